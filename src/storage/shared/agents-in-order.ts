import type { AgentSort, AgentSummary } from '../contracts/runs.js';

/** The order of a list of agents: what has no value comes last in either direction, and agents that are equal are ordered by name. */
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

/** Letter by letter, so that a part of a name stays a part of it: at the end of a word a sigma would get another form. */
export function inLowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
