import { Type } from 'typebox';
import { count, nullable, usd, uuid } from '../../api/support/fields.js';
import type { Host } from '../../component/host.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { ExpressionError } from '../../expressions/expression-error.js';
import { compileCondition, type Expression } from '../../expressions/expression.js';
import { validationProblem } from '../../http/field-errors.js';
import { createRouteBuilder } from '../../http/operation.js';
import { moneyToNumber } from '../../signal/money.js';
import { RESULTS, STATES, type Evaluations } from './evaluations.js';

/** Runs of a request, each of which may take several calls of a judge. */
const MAX_RUNS = 20;

const DEFAULT_ID = 'evaluate';

/** The operation of an exporter, as daemons may have several. */
export function evaluateRuns(exporter: string) {
  const name = exporter === DEFAULT_ID ? '' : exporter.slice(DEFAULT_ID.length + 1);
  return {
    id: name === '' ? 'evaluateRuns' : `evaluateRuns_${name.replace(/\W/g, '_')}`,
    method: 'POST',
    path: `/api/v1/evaluations${name === '' ? '' : `/${encodeURIComponent(name)}`}`,
    tag: 'scores',
    summary: `Evaluate stored runs with the evaluators of exporter ${exporter}`,
    description:
      'Waits for the scores. Runs that already have the score of an evaluator in its current version are not evaluated again, so requests can be repeated. `percentage`, `when` and the daily budget apply. `jackdaw evaluate` uses this.',
    access: 'admin',
    audit: { none: 'Only adds scores; calls of the judge are stored as runs.' },
    body: Type.Object(
      {
        trace_ids: Type.Array(uuid(), { minItems: 1, maxItems: MAX_RUNS }),
        evaluators: Type.Optional(
          Type.Array(Type.String(), { minItems: 1, description: 'Names of evaluators. Default: all.' }),
        ),
        where: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 4096,
            description: 'Condition in CEL on `trace`, in addition to `when`.',
          }),
        ),
        dry_run: Type.Optional(
          Type.Boolean({ default: false, description: 'Only reports what would be evaluated.' }),
        ),
        repeat_failed: Type.Optional(
          Type.Boolean({ default: false, description: 'Also repeats evaluations that failed.' }),
        ),
      },
      { title: 'EvaluationRequest', additionalProperties: false },
    ),
    responses: {
      200: Type.Object(
        {
          runs: Type.Array(
            Type.Object(
              {
                trace_id: uuid(),
                state: Type.Enum([...STATES], {
                  description: '`judge_run`: a call of a judge; `not_selected`: by `percentage` or `where`.',
                }),
                evaluations: Type.Array(
                  Type.Object(
                    {
                      evaluator: Type.String(),
                      span_id: nullable(uuid()),
                      result: Type.Enum([...RESULTS], {
                        description:
                          '`failed`: the error is stored in place of a score; `refused`: a pipeline refused the score; `existing`: has a score; `matched`: by `dry_run`; `postponed`: may succeed later.',
                      }),
                      reason: nullable(Type.String()),
                    },
                    { title: 'Evaluation' },
                  ),
                ),
              },
              { title: 'EvaluatedRun' },
            ),
            { description: 'In the order of the request.' },
          ),
          cost: usd('Cost of the calls that were made.'),
          retry_after_ms: nullable(count('When postponed evaluations may succeed, according to the judge.')),
        },
        { title: 'EvaluationReply' },
      ),
    },
    errors: [404],
  } as const satisfies Operation;
}

interface EvaluationRoute extends Route {
  /** Null while no exporter of that id runs. */
  evaluations: Evaluations | null;
}

/**
 * Serves {@link evaluateRuns}. A listener keeps its routes: after a reload, the new exporter takes over that of the old one.
 *
 * @returns a function that ends it
 */
export function serveEvaluations(
  host: Host,
  endpoint: string,
  exporter: string,
  own: Evaluations,
): () => void {
  const listener = host.listener(endpoint);
  const { id } = evaluateRuns(exporter);
  const isSame = (route: Route): route is EvaluationRoute =>
    route.operation?.id === id && 'evaluations' in route;
  let route = listener.routes().find(isSame);
  if (route === undefined) {
    route = newRoute(host, exporter);
    listener.route(route);
  }
  const taken = route;
  taken.evaluations = own;
  return () => {
    if (taken.evaluations === own) taken.evaluations = null;
  };
}

function newRoute(host: Host, exporter: string): EvaluationRoute {
  const declared = createRouteBuilder(host)
    .route(evaluateRuns(exporter))
    .to(async ({ identity: { userId }, body, request }) => {
      const { evaluations } = route;
      if (evaluations === null) throw gone(exporter);
      const { trace_ids, evaluators, where, dry_run, repeat_failed } = body;
      const unknown = evaluators?.find((name) => !evaluations.names.includes(name));
      if (unknown !== undefined) {
        const known = evaluations.names.join(', ');
        const message = known === '' ? 'is unknown: there are no evaluators' : `must be one of ${known}`;
        throw validationProblem('body', [{ field: '/evaluators', message }]);
      }
      const wanted = {
        evaluators,
        where: where === undefined ? undefined : conditionOf(where),
        isDryRun: dry_run,
        repeatsFailed: repeat_failed,
        onlyEnded: true,
      };
      const runs = [];
      let cost = 0;
      let retryAfterMs: number | null = null;
      for (const trace_id of trace_ids) {
        const result = await evaluations.evaluate(userId, trace_id.toLowerCase(), wanted, request.abort);
        const { state, postponed } = result;
        runs.push({ trace_id, state, evaluations: result.evaluations.map((one) => ({ ...one })) });
        cost += result.cost;
        retryAfterMs = postponed?.retryAfterMs ?? retryAfterMs;
      }
      return { status: 200, json: { runs, cost: moneyToNumber(cost), retry_after_ms: retryAfterMs } };
    });
  const route: EvaluationRoute = { ...declared, evaluations: null };
  return route;
}

function gone(exporter: string): HttpProblem {
  return new HttpProblem(404, 'not_found', `The daemon no longer runs exporter ${exporter}.`);
}

/** @throws HttpProblem 422 */
function conditionOf(source: string): Expression {
  try {
    return compileCondition(source, 'trace');
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw validationProblem('body', [{ field: '/where', message: error.message }]);
  }
}
