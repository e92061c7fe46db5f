import type { AgentSort, AgentSummary } from '../contracts/runs.js';

/** The order of a list of agents: agents without a value come last in either direction, ties are ordered by name. */
export function inOrder(sort: AgentSort): (a: AgentSummary, b: AgentSummary) => number {
  const sign = sort.startsWith('-') ? -1 : 1;
  const field = sort.replace('-', '') as AgentField;
  return (a, b) => {
    const [one, other] = [a[field], b[field]];
    if (one === null || other === null) {
      if (one !== other) return one === null ? 1 : -1;
    } else if (one !== other) return sign * compare(one, other);
    return compare(a.name, b.name);
  };
}

type AgentField = AgentSort extends infer Sort ? (Sort extends `-${infer Field}` ? Field : never) : never;

function compare<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Lower-cases each letter separately, so that a substring of a name stays one: a final sigma would change form. */
export function inLowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
