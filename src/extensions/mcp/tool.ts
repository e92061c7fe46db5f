import { Type, type Static, type TObject } from 'typebox';
import { findAgentId } from '../../api/resources/agents.js';
import { MOMENT_RULE, readMoment } from '../../api/support/intervals.js';
import type { Clock } from '../../component/telemetry.js';
import { validationProblem } from '../../http/field-errors.js';
import type { Answer } from './answer.js';
import type { ApiCalls } from './api-calls.js';

/** What a tool works with during one call. */
interface ToolContext {
  readonly api: ApiCalls;
  readonly answer: Answer;
  readonly clock: Clock;
}

export interface Tool<Args extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly args: Args;
  /** Whether it changes stored data. */
  readonly writes?: boolean;
  /** Where ids come from, for the error about an unknown one. */
  readonly ids?: string;
  run(args: Static<Args>, context: ToolContext): Promise<void>;
}

/** Keeps the type of the arguments inside the tool. */
export function defineTool<Args extends TObject>(tool: Tool<Args>): Tool {
  return tool;
}

/** A run's id; OpenTelemetry's form is accepted, too. */
export const traceId = Type.String({
  minLength: 32,
  maxLength: 36,
  description: 'Id of the run: a UUID, or a trace id of 32 hexadecimal digits.',
});
export const spanId = Type.String({ format: 'uuid', description: 'Id of the span, as get_run shows it.' });

/** The UUID of a {@link traceId}. */
export function uuidOf(id: string): string {
  const digits = id.toLowerCase().replaceAll('-', '');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const moment = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `${description}: ISO 8601, or an age such as 90m, 24h or 7d.`,
    }),
  );

/** Arguments of tools that read a period. */
export const period = { since: moment('Start'), until: moment('End') };
export const agentArgument = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1024, description: 'Name or id of an agent.' }),
);
export const limitArgument = (most: number, usual: number) =>
  Type.Integer({ minimum: 1, maximum: most, default: usual, description: 'Most items to show.' });

/**
 * The period as the API's parameters.
 *
 * @throws HttpProblem 422 for a text that is neither a time nor a duration
 */
export function timesOf(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  clock: Clock,
): { readonly start_time?: string; readonly end_time?: string } {
  const start = timeOf('since', since, clock);
  const end = timeOf('until', until, clock);
  return { ...(start !== undefined && { start_time: start }), ...(end !== undefined && { end_time: end }) };
}

function timeOf(field: string, text: string | undefined, clock: Clock): string | undefined {
  if (text === undefined) return undefined;
  const time = readMoment(text, clock.now());
  if (time !== undefined) return time;
  throw validationProblem('arguments', [{ field, message: MOMENT_RULE }]);
}

/**
 * The filter for an agent named by name or id.
 *
 * @throws HttpProblem 422 with similar names if there is no such agent
 */
export async function agentIdOf(
  agent: string | undefined,
  api: ApiCalls,
): Promise<{ readonly agent_id?: string }> {
  if (agent === undefined) return {};
  const found = await findAgentId(agent, api);
  if ('id' in found) return { agent_id: found.id };
  throw validationProblem('arguments', [
    { field: 'agent', message: `${found.reason}; list_agents lists all names` },
  ]);
}
