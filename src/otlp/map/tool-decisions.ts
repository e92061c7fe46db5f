import { CONVENTIONS } from './clients/index.js';

/** Names of events with decisions on tools, with the prefix of their program and, for programs that leave it out, without. */
export const DECISION_EVENTS: readonly string[] = [
  ...new Set(
    CONVENTIONS.flatMap(({ programEvents: events }) => {
      if (events?.decision === undefined) return [];
      const whole = `${events.prefix}${events.decision}`;
      return events.programs.length === 0 ? [whole] : [whole, events.decision];
    }),
  ),
];

/** Attributes of these events, besides those that name the user. */
export const DECISION_ATTRIBUTES = ['decision', 'source', 'tool_name', 'function_name'] as const;
export const USER_ATTRIBUTES = ['user.id', 'user.email'] as const;

export interface ToolDecision {
  readonly isAccepted: boolean;
  /** Whether settings, a hook or a rule decided, so that nobody was asked. */
  readonly isAutomatic: boolean;
}

/** `accept`, `auto_accept`, `modify` (accepted with changes), `approved`, `approved_for_session` … */
const ACCEPTED = /^(?:auto_?)?(?:accept|approve|allow|modif)/i;
const REJECTED = /^(?:auto_?)?(?:reject|den|abort|cancel|declin|timed_?out)/i;

/**
 * What a program decided about the use of a tool; undefined for other values.
 *
 * @param source who decided: `user`, `user_reject`, `config`, `hook` …; null if only the decision tells
 */
export function toolDecision(decision: string | null, source: string | null): ToolDecision | undefined {
  if (decision === null) return undefined;
  const isAccepted = ACCEPTED.test(decision);
  if (!isAccepted && !REJECTED.test(decision)) return undefined;
  return { isAccepted, isAutomatic: source === null ? /^auto/i.test(decision) : !/^user/i.test(source) };
}
