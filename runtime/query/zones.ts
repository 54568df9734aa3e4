// Zones of the IANA database that have had several names. Engines know different ones: ICU keeps
// the oldest, and packages of the database leave out those that are no longer current.

/**
 * Names of today, each with its earlier ones and with zones that have become part of it (tzdata
 * 2025b, `backward`).
 */
const earlierNames: Readonly<Record<string, readonly string[]>> = {
  "Africa/Abidjan": ["Africa/Timbuktu"],
  "Africa/Nairobi": ["Africa/Asmera"],
  "America/Adak": ["US/Aleutian", "America/Atka"],
  "America/Anchorage": ["US/Alaska"],
  "America/Argentina/Buenos_Aires": ["America/Buenos_Aires"],
  "America/Argentina/Catamarca": ["America/Catamarca", "America/Argentina/ComodRivadavia"],
  "America/Argentina/Cordoba": ["America/Cordoba", "America/Rosario"],
  "America/Argentina/Jujuy": ["America/Jujuy"],
  "America/Argentina/Mendoza": ["America/Mendoza"],
  "America/Chicago": ["US/Central"],
  "America/Denver": ["US/Mountain", "America/Shiprock"],
  "America/Detroit": ["US/Michigan"],
  "America/Edmonton": ["Canada/Mountain", "America/Yellowknife"],
  "America/Halifax": ["Canada/Atlantic"],
  "America/Indiana/Indianapolis": ["US/East-Indiana", "America/Indianapolis", "America/Fort_Wayne"],
  "America/Indiana/Knox": ["US/Indiana-Starke", "America/Knox_IN"],
  "America/Iqaluit": ["America/Pangnirtung"],
  "America/Kentucky/Louisville": ["America/Louisville"],
  "America/Los_Angeles": ["US/Pacific"],
  "America/Manaus": ["Brazil/West"],
  "America/Mazatlan": ["Mexico/BajaSur"],
  "America/Mexico_City": ["Mexico/General"],
  "America/New_York": ["US/Eastern"],
  "America/Noronha": ["Brazil/DeNoronha"],
  "America/Nuuk": ["America/Godthab"],
  "America/Panama": ["America/Coral_Harbour"],
  "America/Phoenix": ["US/Arizona"],
  "America/Puerto_Rico": [
    "America/Kralendijk",
    "America/Lower_Princes",
    "America/Marigot",
    "America/St_Barthelemy",
    "America/Virgin",
  ],
  "America/Regina": ["Canada/Saskatchewan"],
  "America/Rio_Branco": ["Brazil/Acre", "America/Porto_Acre"],
  "America/Santiago": ["Chile/Continental"],
  "America/Sao_Paulo": ["Brazil/East"],
  "America/St_Johns": ["Canada/Newfoundland"],
  "America/Tijuana": ["Mexico/BajaNorte", "America/Ensenada", "America/Santa_Isabel"],
  "America/Toronto": [
    "Canada/Eastern",
    "America/Montreal",
    "America/Nipigon",
    "America/Thunder_Bay",
  ],
  "America/Vancouver": ["Canada/Pacific"],
  "America/Whitehorse": ["Canada/Yukon"],
  "America/Winnipeg": ["Canada/Central", "America/Rainy_River"],
  "Asia/Ashgabat": ["Asia/Ashkhabad"],
  "Asia/Dhaka": ["Asia/Dacca"],
  "Asia/Ho_Chi_Minh": ["Asia/Saigon"],
  "Asia/Jerusalem": ["Asia/Tel_Aviv"],
  "Asia/Kathmandu": ["Asia/Katmandu"],
  "Asia/Kolkata": ["Asia/Calcutta"],
  "Asia/Macau": ["Asia/Macao"],
  "Asia/Makassar": ["Asia/Ujung_Pandang"],
  "Asia/Nicosia": ["Europe/Nicosia"],
  "Asia/Shanghai": ["Asia/Chongqing", "Asia/Harbin", "Asia/Chungking"],
  "Asia/Thimphu": ["Asia/Thimbu"],
  "Asia/Ulaanbaatar": ["Asia/Choibalsan", "Asia/Ulan_Bator"],
  "Asia/Urumqi": ["Asia/Kashgar"],
  "Asia/Yangon": ["Asia/Rangoon"],
  "Atlantic/Faroe": ["Atlantic/Faeroe"],
  "Australia/Adelaide": ["Australia/South"],
  "Australia/Brisbane": ["Australia/Queensland"],
  "Australia/Broken_Hill": ["Australia/Yancowinna"],
  "Australia/Darwin": ["Australia/North"],
  "Australia/Hobart": ["Australia/Tasmania", "Australia/Currie"],
  "Australia/Lord_Howe": ["Australia/LHI"],
  "Australia/Melbourne": ["Australia/Victoria"],
  "Australia/Perth": ["Australia/West"],
  "Australia/Sydney": ["Australia/ACT", "Australia/NSW", "Australia/Canberra"],
  "Europe/Belgrade": ["Europe/Podgorica"],
  "Europe/Berlin": ["Arctic/Longyearbyen", "Atlantic/Jan_Mayen"],
  "Europe/Chisinau": ["Europe/Tiraspol"],
  "Europe/Helsinki": ["Europe/Mariehamn"],
  "Europe/Istanbul": ["Asia/Istanbul"],
  "Europe/Kyiv": ["Europe/Kiev", "Europe/Uzhgorod", "Europe/Zaporozhye"],
  "Europe/London": ["Europe/Belfast"],
  "Europe/Prague": ["Europe/Bratislava"],
  "Europe/Rome": ["Europe/San_Marino", "Europe/Vatican"],
  "Europe/Zurich": ["Europe/Busingen"],
  "Pacific/Auckland": ["Antarctica/South_Pole"],
  "Pacific/Easter": ["Chile/EasterIsland"],
  "Pacific/Guadalcanal": ["Pacific/Ponape"],
  "Pacific/Honolulu": ["US/Hawaii", "Pacific/Johnston"],
  "Pacific/Kanton": ["Pacific/Enderbury"],
  "Pacific/Pago_Pago": ["US/Samoa", "Pacific/Samoa"],
  "Pacific/Port_Moresby": ["Pacific/Truk", "Pacific/Yap"],
};

const currentNames = new Map(
  Object.entries(earlierNames).flatMap(([current, earlier]) =>
    earlier.map((name) => [name.toLowerCase(), current] as const),
  ),
);
const byLowerCase = new Map(
  Object.entries(earlierNames).map(([current, earlier]) => [current.toLowerCase(), earlier]),
);

/**
 * The names that a zone has, the given one first: whoever doesn't know it may know the next. Only
 * offsets of zones that have become part of another may differ, in years before they did.
 */
export function zoneNames(name: string): readonly string[] {
  const current = currentNames.get(name.toLowerCase()) ?? name;
  return [...new Set([name, current, ...(byLowerCase.get(current.toLowerCase()) ?? [])])];
}

/** The first name of a zone that this process knows, or null. */
export function knownZone(name: string): string | null {
  return zoneNames(name).find(isKnown) ?? null;
}

function isKnown(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
