import { Type, type Static } from 'typebox';
import { parseComponentId } from '../../component/component-id.js';
import { checkClientTls, clientTlsFields } from '../../config/client-tls.js';
import { durationMs } from '../../config/duration.js';
import { checkHeaders, headersSection } from '../../config/request-headers.js';
import { choice, duration, extensionId, filePath, secret, section } from '../../config/schema.js';
import { deliveryKeys } from '../../delivery/queue/config.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { checkTarget } from '../../delivery/senders/webhook/check-target.js';
import { checkTargets, targetsSection } from '../../delivery/senders/webhook/targets.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { ExpressionError } from '../../expressions/expression-error.js';
import { compile } from '../../expressions/expression.js';
import { TEXT_PATTERNS } from '../../http/field-errors.js';
import { MAX_NAME } from '../../signal/names.js';
import { unknownVariables, VARIABLES } from './prompt.js';

const MAX_SOURCE = 4096;
const MAX_PROMPT = 65_536;

const condition = (description: string, more: { readonly default?: string } = {}) =>
  Type.String({ minLength: 1, maxLength: MAX_SOURCE, description, ...more });

const evaluatorSection = section({
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME,
    description: 'Name of the evaluator and its scores.',
  }),
  version: Type.Integer({
    minimum: 0,
    default: 1,
    description: 'Version of the evaluator. Increase it to evaluate runs again.',
  }),
  item: choice(['trace', 'span'], {
    default: 'trace',
    description: 'What is evaluated: whole runs (trace), or each matching span.',
  }),
  when: condition('Condition in CEL for what is evaluated.', { default: 'trace.kind == "agent"' }),
  percentage: Type.Number({
    minimum: 0,
    maximum: 100,
    default: 100,
    description: 'Percentage of runs to evaluate, selected by id.',
  }),
  expression: Type.Optional(
    condition('Expression in CEL that gives the score: a number, a boolean, a label or a map.'),
  ),
  judge: Type.Optional(
    section(
      {
        prompt: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: MAX_PROMPT,
            description: 'Text of the prompt, with variables.',
          }),
        ),
        stored_prompt: Type.Optional(
          section(
            {
              name: Type.String({ minLength: 1, description: 'Name of a prompt of the run’s user.' }),
              version: Type.Optional(
                Type.Integer({ minimum: 0, description: 'Version of the prompt, instead of label.' }),
              ),
              label: Type.Optional(
                Type.String({
                  pattern: TEXT_PATTERNS['prompt-label'],
                  description:
                    'Label of the prompt, such as production. Default: latest, the newest version.',
                }),
              ),
            },
            { description: 'Prompt from the prompt store, instead of prompt.', isOptional: true },
          ),
        ),
        model: Type.Optional(
          Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'Model, instead of judge.model.' }),
        ),
        min: Type.Number({ default: 0, description: 'Lowest score that the judge may give.' }),
        max: Type.Number({ default: 1, description: 'Highest score that the judge may give.' }),
        labels: Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME }), {
          default: [],
          uniqueItems: true,
          description: 'Labels; the judge selects one. Default: a score without a label.',
        }),
      },
      { description: 'Asks a model for the score.', isOptional: true },
    ),
  ),
  extension: Type.Optional(
    extensionId({ description: 'Id of an extension of a plugin that gives the score (RunEvaluator).' }),
  ),
});

export type EvaluatorConfig = Static<typeof evaluatorSection>;

export const evaluateConfig = section({
  store: extensionId({ description: 'Id of the telemetry store with the runs.', default: 'duckdb' }),
  pipelines: Type.Array(
    Type.String({
      pattern: '^(logs|traces)(/.+)?$',
      patternErrorMessage: 'must be a pipeline for logs or traces, such as logs',
    }),
    {
      default: [],
      uniqueItems: true,
      description: 'Pipelines for the scores (logs) and for the calls of the judge (traces).',
    },
  ),
  control: extensionId({ description: 'Id of the control store with the prompts.', default: 'sqlite' }),
  evaluators: Type.Array(evaluatorSection, {
    default: [],
    description: 'Evaluators. Each scores runs or spans.',
  }),
  judge: Type.Optional(
    section(
      {
        url: Type.String({
          pattern: '^https?://',
          description: 'Base URL of an OpenAI-compatible API; /chat/completions is appended.',
        }),
        api_key: Type.Optional(secret({ description: 'API key, sent as bearer token. It is never shown.' })),
        headers: headersSection('Further headers of every request.'),
        model: Type.String({
          minLength: 1,
          maxLength: MAX_NAME,
          description: 'Model that gives the scores.',
        }),
        answer_format: choice(['json_schema', 'json_object'], {
          default: 'json_schema',
          description: 'How JSON is requested: json_schema, or json_object for servers without schemas.',
        }),
        parameters: Type.Record(Type.String(), Type.Unknown(), {
          default: {},
          description: 'Further fields of every request, such as temperature.',
        }),
        timeout: duration({ default: '60s', description: 'Time limit for one request.' }),
        max_concurrency: Type.Integer({
          minimum: 1,
          maximum: 64,
          default: 4,
          description: 'Concurrent requests, including those of jackdaw evaluate.',
        }),
        max_cost_per_day: Type.Optional(
          Type.Number({
            exclusiveMinimum: 0,
            maximum: 100_000,
            description: 'US dollars per UTC day. When reached, evaluations are skipped until the next day.',
          }),
        ),
        max_variable_length: Type.Integer({
          minimum: 100,
          maximum: 1_000_000,
          default: 20_000,
          description: 'Characters of a variable in a prompt. Longer values lose their middle.',
        }),
        tls: Type.Optional(
          section(clientTlsFields, {
            description: 'TLS settings for an https URL, in addition to targets.ca_file.',
            isOptional: true,
          }),
        ),
      },
      { description: 'The model API of evaluators with a judge.', isOptional: true },
    ),
  ),
  directory: filePath({
    default: './data/evaluate',
    description: 'Directory for the cost of the current day, which max_cost_per_day limits.',
  }),
  targets: targetsSection,
  ...deliveryKeys({ timeout: '5m', batchWait: '0s' }),
});

export type EvaluateConfig = Static<typeof evaluateConfig>;
export type JudgeConfig = NonNullable<EvaluateConfig['judge']>;

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** What an expression may give: see `scoreOf`. */
const SCORE_TYPES = /^(?:bool|int|uint|double|string|dyn|null_type|map<.*>)$/;

/** Checks what the schema cannot express. */
export function checkEvaluate(config: EvaluateConfig): readonly Problem[] {
  const { evaluators, judge, targets } = config;
  const problems: Problem[] = [...checkTargets(targets), ...checkPipelines(config)];
  const hasNetworks = checkTargets(targets).length === 0;
  if (judge !== undefined) problems.push(...checkJudge(judge, hasNetworks ? targets.allow_cidrs : null));
  evaluators.forEach((evaluator, index) => {
    const at = `/evaluators/${index}`;
    const add = (path: string, message: string) => problems.push({ path: at + path, message });
    const { name, item, when, expression, extension } = evaluator;
    if (evaluators.findIndex((other) => other.name === name) < index) add('/name', 'is used twice');
    const kinds = [expression, evaluator.judge, extension].filter((kind) => kind !== undefined);
    if (kinds.length !== 1) add('', 'needs one of expression, judge and extension');
    for (const { message } of conditionProblems('', [when], item)) add('/when', message);
    if (expression !== undefined) {
      const message = expressionProblem(expression, item);
      if (message !== null) add('/expression', message);
    }
    if (evaluator.judge !== undefined) {
      for (const { path, message } of checkPrompt(evaluator.judge)) add(`/judge${path}`, message);
      if (judge === undefined) add('/judge', 'needs the section judge with url and model next to evaluators');
    }
  });
  return problems;
}

/** The pipelines of a signal. */
export function pipelinesOf({ pipelines }: EvaluateConfig, signal: 'logs' | 'traces'): readonly string[] {
  return pipelines.filter((name) => parseComponentId(name)?.type === signal);
}

/** Without a pipeline, scores would be lost. */
function checkPipelines(config: EvaluateConfig): readonly Problem[] {
  const needs = (signal: 'logs' | 'traces', what: string): readonly Problem[] =>
    pipelinesOf(config, signal).length > 0
      ? []
      : [
          {
            path: '/pipelines',
            message: `needs a pipeline of ${signal} for ${what}: add one, and list this exporter under its receivers`,
          },
        ];
  const { evaluators } = config;
  return [
    ...(evaluators.length > 0 ? needs('logs', 'the scores') : []),
    ...(evaluators.some(({ judge }) => judge !== undefined) ? needs('traces', 'the calls of the judge') : []),
  ];
}

function expressionProblem(source: string, item: 'trace' | 'span'): string | null {
  try {
    const { type } = compile(source, item);
    return SCORE_TYPES.test(type) ? null : `must give a number, a boolean, a label or a map, not a ${type}`;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message;
  }
}

function checkPrompt({
  prompt,
  stored_prompt,
  min,
  max,
}: NonNullable<EvaluatorConfig['judge']>): readonly Problem[] {
  const unknown = prompt === undefined ? [] : unknownVariables(prompt);
  return [
    ...((prompt === undefined) === (stored_prompt === undefined)
      ? [{ path: '', message: 'needs either prompt or stored_prompt' }]
      : []),
    ...(unknown.length > 0
      ? [{ path: '/prompt', message: `has no variable ${unknown.join(', ')}; there are ${VARIABLES}` }]
      : []),
    ...(stored_prompt?.version !== undefined && stored_prompt.label !== undefined
      ? [{ path: '/stored_prompt/label', message: 'cannot be combined with version' }]
      : []),
    ...(min < max ? [] : [{ path: '/max', message: 'must be greater than min' }]),
  ];
}

/** @param allowed networks; null if they are invalid */
function checkJudge(
  { url, headers, timeout, tls }: JudgeConfig,
  allowed: readonly string[] | null,
): readonly Problem[] {
  const problems: Problem[] = [];
  const target =
    allowed === null ? null : checkTarget(url, new AddressPolicy(allowed), { allowsPlain: true });
  if (target !== null)
    problems.push({
      path: '/judge/url',
      message: target.endsWith('is not allowed')
        ? `${target}; add its network to targets.allow_cidrs to allow it`
        : target,
    });
  if (durationMs(timeout) === 0)
    problems.push({ path: '/judge/timeout', message: 'must be greater than 0s' });
  const others = [...checkHeaders(headers, ['authorization', 'content-type']), ...checkClientTls(tls)];
  return [...problems, ...others.map(({ path, message }) => ({ path: `/judge${path}`, message }))];
}
