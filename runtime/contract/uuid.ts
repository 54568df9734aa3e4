// The text of a UUID (RFC 9562 §4).

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The UUID that nothing has (RFC 9562 §5.9). */
export const nilUuid = "00000000-0000-0000-0000-000000000000";

/** Whether the text is a UUID of any version in its canonical form. */
export function isUuid(text: string): boolean {
  return text.length === 36 && uuidPattern.test(text);
}
