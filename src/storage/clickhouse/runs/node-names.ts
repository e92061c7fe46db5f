import { invariant } from '../../../signal/checked.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';

/** The serialized node of a span: empty, the run's agent, or a mark and a name. */
const NONE = '';
const AGENT = '@';
const NAMED = '=';

/** @param node as in `DerivedMap.nodes` @param names those of the same map */
export function serializeNode(node: number, names: readonly string[]): string {
  if (node === NO_NODE) return NONE;
  return node === AGENT_NODE ? AGENT : nodeFromRow(invariant(names[node], 'name of a node'));
}

/** Serializes the node of a name as {@link serializeNode} does. */
export function nodeFromRow(name: string): string {
  return NAMED + name;
}

/** The serialized node of the run's agent. */
export const serializedAgentNode = AGENT;

/** The display name of a node. @param agentName name of the run's agent @returns null for no node */
export function shownNode(printed: string, agentName: string): string | null {
  if (printed === NONE) return null;
  return printed === AGENT ? agentName : printed.slice(NAMED.length);
}

/** Assigns numbers to the nodes of some runs while these are processed. */
export class NodeNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  /** @param printed as returned by {@link serializeNode} */
  numberOf(printed: string): number {
    if (printed === NONE) return NO_NODE;
    return printed === AGENT ? AGENT_NODE : this.named(printed.slice(NAMED.length));
  }

  /** The number of a node by its name. */
  named(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#names.push(name) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  nameOf(number: number): string {
    return invariant(this.#names[number], 'name of a node');
  }
}
