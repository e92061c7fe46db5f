/**
 * Typed page state in the URL query. Defaults are omitted to keep links short; invalid values become the
 * default, so that old links still work.
 */
export interface Field<Value> {
  readonly initial: Value;
  /** @returns undefined for invalid text */
  parse(text: string): Value | undefined;
  /** @param isSet whether the user set the value @returns undefined to omit the value */
  print(value: Value, isSet?: boolean): string | undefined;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type StateOf<Of extends Fields> = { readonly [Name in keyof Of]: Of[Name]['initial'] };

/** Length limit of a text value. */
const MAX_TEXT = 1024;

export function text(initial = ''): Field<string> {
  return {
    initial,
    parse: (value) => (value.length <= MAX_TEXT ? value : undefined),
    print: (value) => (value === initial ? undefined : value),
  };
}

export function integer(initial: number, least = 0, most = Number.MAX_SAFE_INTEGER): Field<number> {
  return {
    initial,
    parse: (value) => {
      const number = Number(value);
      return /^-?\d+$/.test(value) && number >= least && number <= most ? number : undefined;
    },
    print: (value) => (value === initial ? undefined : String(value)),
  };
}

export function oneOf<const Name extends string>(names: readonly Name[], initial: Name): Field<Name> {
  return {
    initial,
    parse: (value) => names.find((name) => name === value),
    print: (value) => (value === initial ? undefined : value),
  };
}

export function flag(initial = false): Field<boolean> {
  return {
    initial,
    parse: (value) => (value === '1' ? true : value === '0' ? false : undefined),
    print: (value) => (value === initial ? undefined : value ? '1' : '0'),
  };
}

/** The defaults of all fields. */
export function initialOf<Of extends Fields>(fields: Of): StateOf<Of> {
  return parseState(fields, '');
}

/** A change of some fields from URL values; empty values become the default, invalid ones are ignored. */
export function changeOf<Of extends Fields>(
  fields: Of,
  values: Readonly<Record<string, string>>,
): Partial<StateOf<Of>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const field = fields[name];
      const next = value === '' ? field?.initial : field?.parse(value);
      return next === undefined ? [] : [[name, next]];
    }),
  ) as Partial<StateOf<Of>>;
}

/** @returns the state of a query, with defaults */
export function parseState<Of extends Fields>(fields: Of, query: string): StateOf<Of> {
  const params = new URLSearchParams(query);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const given = params.get(name);
      return [name, (given === null ? undefined : field.parse(given)) ?? field.initial];
    }),
  ) as StateOf<Of>;
}

/**
 * @param isSet whether the user set a field
 * @returns the query of a state without `?`; empty for defaults
 */
export function printState<Of extends Fields>(
  fields: Of,
  state: StateOf<Of>,
  isSet: (name: string) => boolean = () => false,
): string {
  const params = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) {
    const printed = field.print(state[name], isSet(name));
    if (printed !== undefined) params.set(name, printed);
  }
  return params.toString();
}
