import { Type, type Static, type TObject } from 'typebox';
import { findAgentId } from '../../api/resources/agents.js';
import { MOMENT_RULE, readMoment } from '../../api/support/intervals.js';
import type { Clock } from '../../component/telemetry.js';
import { validationProblem } from '../../http/field-errors.js';
import { uuidOfDigits } from '../../signal/ids.js';
import { DIMENSIONS } from '../../signal/run-context.js';
import { RUN_STATUSES } from '../../signal/span.js';
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
  return uuidOfDigits(id.toLowerCase().replaceAll('-', ''));
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
/** An optional text, such as a name or words. */
export const textArgument = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));
const amount = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
/** An optional map of texts. Without `patternProperties`, which not all models' APIs accept. */
export const textsArgument = (description: string, most = 10) =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 1024 },
      maxProperties: most,
      description,
    }),
  );

const CONDITIONS: readonly string[] = DIMENSIONS.flatMap((field) => [`${field}!`, `${field}~`]);

/** Arguments that select runs, wherever runs are listed or summed up. */
export const runArguments = {
  agent: textArgument('Name or id of an agent.'),
  status: Type.Optional(Type.Enum(RUN_STATUSES)),
  success: Type.Optional(Type.Boolean({ description: 'The success signal of the run.' })),
  ...period,
  user_id: textArgument('End user.'),
  session_id: textArgument('Session.'),
  tag: textArgument('Tag.'),
  environment: textArgument('Environment, such as production.'),
  release: textArgument('Release of the program.'),
  agent_version: textArgument('Version of the agent.'),
  repository: textArgument('Repository, such as owner/name.'),
  where: textsArgument(
    `Other conditions on ${DIMENSIONS.join(', ')}: {"environment!": "test"} for any other value or none, {"release~": "2.1"} for values that contain a text.`,
  ),
  metadata: textsArgument(
    'Values of metadata keys of the run; keys that end with ! or ~ as in where, such as {"plan!": "free"}.',
  ),
  score: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
      maxItems: 5,
      description:
        'Conditions on scores, all of which must be met: helpfulness<0.5, tone=polite, helpfulness (has one), !helpfulness (has none).',
    }),
  ),
  min_cost: amount('US dollars.'),
  max_cost: amount('US dollars.'),
  min_duration_ms: amount('Milliseconds.'),
  max_duration_ms: amount('Milliseconds.'),
};

/**
 * The API's parameters for {@link runArguments}.
 *
 * @throws HttpProblem 422 for an unknown agent or condition, or an invalid time
 */
export async function runQuery(
  args: Static<TObject<typeof runArguments>>,
  { api, clock }: Pick<ToolContext, 'api' | 'clock'>,
) {
  const { agent, since, until, where = {}, metadata, ...filter } = args;
  const unknown = Object.keys(where).find((key) => !CONDITIONS.includes(key));
  if (unknown !== undefined) {
    const message = `must not have the key ${JSON.stringify(unknown)}, only ${CONDITIONS.join(', ')}`;
    throw validationProblem('arguments', [{ field: 'where', message }]);
  }
  return {
    ...filter,
    ...where,
    ...(metadata && { 'metadata.KEY': metadata }),
    ...timesOf({ since, until }, clock),
    ...(await agentIdOf(agent, api)),
  };
}

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
