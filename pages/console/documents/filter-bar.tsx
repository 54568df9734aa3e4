// The conditions of a list: each is a member, an operator and a value.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Field } from "../../parts/field.js";
import type { DocumentKind } from "./document.js";
import { isTruth, operatorTexts, plainOperators, type Condition } from "./filters.js";

interface FilterBarProps {
  readonly kind: DocumentKind;
  readonly conditions: readonly Condition[];
  readonly setConditions: (conditions: readonly Condition[]) => void;
  /** Whether all conditions must hold, or any of them. */
  readonly match: "all" | "any";
  readonly setMatch: (match: "all" | "any") => void;
}

/** The conditions that hold, and a form for another. */
export function FilterBar({
  kind,
  conditions,
  setConditions,
  match,
  setMatch,
}: FilterBarProps): JSX.Element {
  const members = [...kind.ownMembers, "id", "created_at", "last_update_at"].filter(
    (name) => name in kind.operators,
  );
  const [member, setMember] = useState(members[0] ?? "");
  const operators = plainOperators(kind.operators[member] ?? []);
  const [chosen, setOperator] = useState("$eq");
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? "");
  const [text, setText] = useState("");
  const choices = isTruth(operator)
    ? ["true", "false"]
    : (kind.members[member]?.enum?.filter((one) => typeof one === "string") ?? []);
  const add = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = choices.length > 0 && text === "" ? (choices[0] ?? "") : text;
    setConditions([...conditions, { member, operator, text: given }]);
    setText("");
  };
  if (members.length === 0) return <></>;
  return (
    <details open={conditions.length > 0}>
      <summary>Filters</summary>
      <div class="stack">
        <form class="cards" onSubmit={add}>
          <Field label="Member">
            <Choice id="filter-member" value={member} options={members} choose={setMember} />
          </Field>
          <Field label="Condition">
            <select
              id="filter-operator"
              value={operator}
              onChange={(event) => setOperator(event.currentTarget.value)}
            >
              {operators.map((one) => (
                <option key={one} value={one}>
                  {operatorTexts[one]}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Value">
            {choices.length > 0 ? (
              <Choice id="filter-value" value={text} options={choices} choose={setText} />
            ) : (
              <input
                id="filter-value"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            )}
          </Field>
          <div class="row">
            <button type="submit">Add filter</button>
          </div>
        </form>
        {conditions.length > 0 && (
          <p class="row">
            {conditions.length > 1 && (
              <select
                id="filter-match"
                aria-label="Which of them must hold"
                value={match}
                onChange={({ currentTarget: { value } }) =>
                  setMatch(value === "any" ? "any" : "all")
                }
              >
                <option value="all">all of</option>
                <option value="any">any of</option>
              </select>
            )}
            {conditions.map((one, index) => (
              <button
                key={`${one.member} ${one.operator} ${one.text}`}
                type="button"
                onClick={() => setConditions(conditions.filter((_, at) => at !== index))}
              >
                {`${one.member} ${operatorTexts[one.operator]} ${one.text}`}
                <span class="hidden">, remove this filter</span>
                <span aria-hidden="true"> ×</span>
              </button>
            ))}
          </p>
        )}
      </div>
    </details>
  );
}

function Choice({
  id,
  value,
  options,
  choose,
}: {
  readonly id: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly choose: (value: string) => void;
}): JSX.Element {
  return (
    <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {options.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}
