import { text, type StateOf } from '../state/codec.js';

/** How a filter compares: equal, another value or none, contains in any case. */
export const OPERATORS = { '=': 'is', '!=': 'is not', '~=': 'contains' } as const;
export type Operator = keyof typeof OPERATORS;

/** A filter that the user can add to a list. */
export interface FilterField {
  readonly label: string;
  /** `keyed` has a key and a value in each of its conditions; `choice` has fixed values. */
  readonly kind: 'text' | 'number' | 'keyed' | 'choice';
  readonly choices?: readonly string[];
  /** What suggests values: a field of `…/traces/values`, which for `keyed` has the keys, or a kind of named things. */
  readonly suggest?: string;
  /** Form of the value. */
  readonly hint?: string;
  /** Whether only suggested values are valid, such as ids of agents. */
  readonly isPicked?: boolean;
  /** Whether other operators than `=` are possible. */
  readonly hasOperators?: boolean;
}

/** A value with its operator, such as `!=prod`; without an operator it is `=`. */
export function parseCondition(text: string): readonly [Operator, string] {
  const operator = (['!=', '~='] as const).find((each) => text.startsWith(each));
  return operator === undefined ? ['=', text] : [operator, text.slice(operator.length)];
}

export function printCondition(operator: Operator, value: string): string {
  return operator === '=' ? value : operator + value;
}

/** Whether a value of a run meets a condition. An empty condition is always met. */
export function meets(condition: string, actual: string | null): boolean {
  const [operator, value] = parseCondition(condition);
  if (operator === '!=') return actual !== value;
  if (operator === '~=') return actual?.toLowerCase().includes(value.toLowerCase()) === true;
  return value === '' || actual === value;
}

/** A condition as an API parameter: `environment!=prod` has the name `environment!`. */
export function conditionQuery(name: string, condition: string): Readonly<Record<string, string>> {
  const [operator, value] = parseCondition(condition);
  return value === '' ? {} : { [name + operator.slice(0, -1)]: value };
}

/** A condition on one key of metadata or attributes. */
export interface KeyedCondition {
  readonly key: string;
  readonly operator: Operator;
  readonly value: string;
}

/** The API allows as many. */
export const MAX_KEYED = 10;
const KEYED = /^([^=]+?)(!=|~=|=)(.+)$/;

/** The conditions of a list as a URL value: `plan~=pro,tier=1`, percent-encoded parts. */
export function parseKeyed(text: string): readonly KeyedCondition[] | undefined {
  if (text === '') return [];
  const found = text.split(',').map((each) => {
    const [, key = '', operator = '=', value = ''] = KEYED.exec(each) ?? [];
    try {
      return {
        key: decodeURIComponent(key),
        operator: operator as Operator,
        value: decodeURIComponent(value),
      };
    } catch {
      return undefined;
    }
  });
  const valid = found.filter((each) => each !== undefined && each.key !== '');
  return valid.length === found.length && valid.length <= MAX_KEYED
    ? (valid as readonly KeyedCondition[])
    : undefined;
}

export function printKeyed(conditions: readonly KeyedCondition[]): string {
  return conditions
    .map(({ key, operator, value }) => encodeURIComponent(key) + operator + encodeURIComponent(value))
    .join(',');
}

/** The conditions as API parameters. @param field such as `metadata` */
export function keyedQuery(field: string, text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (parseKeyed(text) ?? []).map(({ key, operator, value }) => [
      `${field}.${key}${operator.slice(0, -1)}`,
      value,
    ]),
  );
}

/** Filters on the context of runs that several lists share, by name in the URL. */
export const DIMENSION_STATE = { env: text(), release: text(), version: text(), repo: text() };
export const CONTEXT_STATE = { agent: text(), ...DIMENSION_STATE };

export const DIMENSION_FILTERS = {
  env: { label: 'Environment', kind: 'text', suggest: 'environment' },
  release: { label: 'Release', kind: 'text', suggest: 'release' },
  version: { label: 'Agent version', kind: 'text', suggest: 'agent_version' },
  repo: { label: 'Repository', kind: 'text', suggest: 'repository' },
} as const satisfies Readonly<Record<keyof typeof DIMENSION_STATE, FilterField>>;
export const CONTEXT_FILTERS = {
  agent: { label: 'Agent', kind: 'text', suggest: 'agent', isPicked: true },
  ...DIMENSION_FILTERS,
} as const satisfies Readonly<Record<keyof typeof CONTEXT_STATE, FilterField>>;

/** The filters as API parameters; a list may lack some of them. */
export function contextQuery({
  agent = '',
  env = '',
  release = '',
  version = '',
  repo = '',
}: Partial<StateOf<typeof CONTEXT_STATE>>) {
  return {
    ...(agent === '' ? {} : { agent_id: agent }),
    ...(env === '' ? {} : { environment: env }),
    ...(release === '' ? {} : { release }),
    ...(version === '' ? {} : { agent_version: version }),
    ...(repo === '' ? {} : { repository: repo }),
  };
}
