import type { NumberedVersion, Prompts } from '../../contracts/prompts.js';
import {
  MOST_LABELS,
  MOST_SCORE_GROUPS,
  MOST_SCORE_NAMES,
  type ScoreGroup,
  type ScoreOfRun,
  type ScoreRequest,
  type Scores,
} from '../../contracts/scores.js';
import { groupColumn, MEAN, SCORE_LEVELS, scoreGroups, scoreOfRun } from '../../shared/score-groups.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { hourOf } from '../../../signal/trace-map.js';
import { uuidIn } from '../client/literals.js';
import type { AgentsOfUser } from '../names/agent-names.js';
import { NO_TRACE } from '../tables/score-tables.js';
import { effectiveSpans } from './effective-spans-sql.js';
import type { ListParts } from './listed-runs.js';
import { dimensionsOf } from './run-conditions.js';
import { scoresOfRuns } from './score-reads.js';

const TOTALS = `count() AS scores, count(value) AS valued, ${MEAN.clickhouse}, min(value) AS least, max(value) AS most`;

/** Dependencies of {@link ScoreReads}. */
interface ScoreReadParts extends ListParts {
  readonly prompts: Pick<Prompts, 'numbersOf'>;
  readonly tenantOf: (userId: string) => Promise<number>;
}

/** The contract `Scores`. */
export class ScoreReads implements Scores {
  readonly #parts: ScoreReadParts;

  constructor(parts: ScoreReadParts) {
    this.#parts = parts;
  }

  async groups(userId: string, request: ScoreRequest, abort?: AbortSignal): Promise<readonly ScoreGroup[]> {
    const { reads, names, prompts, tenantOf } = this.#parts;
    const { group_by, prompt } = request;
    const tenant = await tenantOf(userId);
    const versions = prompt === undefined ? [] : await prompts.numbersOf(userId, prompt);
    if (prompt !== undefined && versions.length === 0) return [];
    const sql = statementOf(tenant, await names.of(tenant), request, versions);
    const rows = await reads.rows(sql, abort);
    const numbers = group_by === 'agent' ? rows.map(({ key }) => Number(key)) : [];
    const agents = await names.of(tenant, new Set(numbers));
    return scoreGroups(rows, group_by, { agentOf: (number) => agents.byNumber(number), versions });
  }

  async ofRuns(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly ScoreOfRun[]> {
    const ids = traceIds.flatMap((id) => uuidIn(id) ?? []);
    if (ids.length === 0) return [];
    const runs = ids.map((id) => `'${id}'`).join(', ');
    const scores = scoresOfRuns(await this.#parts.tenantOf(userId), { runs });
    const rows = await this.#parts.reads.rows(
      `SELECT trace_id, name, ${TOTALS}, argMaxIf(label, (scored_at, toUInt128(id)), isNotNull(label)) AS label
       FROM ${scores} GROUP BY trace_id, name ORDER BY trace_id, name LIMIT ${MOST_SCORE_NAMES} BY trace_id`,
      abort,
    );
    return rows.map(scoreOfRun);
  }
}

function statementOf(
  tenant: number,
  agents: AgentsOfUser,
  { group_by, interval, name, ...of }: ScoreRequest,
  versions: readonly NumberedVersion[],
): string {
  const numbers = versions.map(({ number }) => number).join(', ');
  const isOf = of.prompt === undefined ? 'true' : `hasAny(prompts, [${numbers}])`;
  const runs = `SELECT trace_id, started_at, prompts, ${groupColumn(group_by) ?? "''"} AS of_run FROM runs FINAL WHERE ${runsOf(tenant, agents, of)} AND ${isOf}`;
  const scored = `SELECT s.name AS name, s.value AS value, s.label AS label, s.trace_id AS trace_id, s.span_id AS span_id, r.started_at AS started_at, r.prompts AS prompts, r.of_run AS of_run
    FROM ${scoresOfRuns(tenant, name === undefined ? {} : { name })} AS s INNER JOIN (${runs}) AS r ON r.trace_id = s.trace_id`;
  const grouped = groupedBy(group_by, tenant, `(${scored})`, numbers);
  const largest = `SELECT name, key FROM (${grouped}) GROUP BY name, key ORDER BY count() DESC, name, key LIMIT ${MOST_SCORE_GROUPS}`;
  const counted = `(SELECT * FROM (${grouped}) WHERE (name, key) IN (${largest}))`;
  const bucket = interval === undefined ? 'NULL' : `started_at - positiveModulo(started_at, ${interval})`;
  const level = (number: number, columns: string, by: string, also = ''): string =>
    `SELECT ${number} AS level, name, key, ${columns}, ${TOTALS} FROM ${counted} ${also} GROUP BY name, key ${by}`;
  return [
    level(
      SCORE_LEVELS.group,
      'CAST(NULL AS Nullable(Int64)) AS bucket, CAST(NULL AS Nullable(String)) AS label',
      '',
    ),
    `SELECT * FROM (${level(SCORE_LEVELS.label, 'CAST(NULL AS Nullable(Int64)) AS bucket, toString(label) AS label', ', label', 'WHERE isNotNull(label)')} ORDER BY scores DESC, label LIMIT ${MOST_LABELS} BY name, key)`,
    ...(interval === undefined
      ? []
      : [
          level(
            SCORE_LEVELS.bucket,
            `toNullable(toInt64(${bucket})) AS bucket, CAST(NULL AS Nullable(String)) AS label`,
            ', bucket',
          ),
        ]),
  ].join(' UNION ALL ');
}

/** SQL for `name`, `value`, `label`, `started_at` and `key` of scores, in the groups that they count in. */
function groupedBy(group: ScoreRequest['group_by'], tenant: number, scored: string, numbers: string): string {
  const columns = 'name, value, label, started_at';
  if (group === 'prompt_version')
    return `SELECT ${columns}, toString(prompt) AS key FROM ${scored} ARRAY JOIN arrayIntersect(prompts, [${numbers || 0}]) AS prompt`;
  if (group !== 'model') return `SELECT ${columns}, ifNull(toString(of_run), '') AS key FROM ${scored}`;
  const called = `(SELECT trace_id, span_id, ifNull(model, '') AS model FROM ${effectiveSpans(tenant, {}, ['model'], `trace_id IN (SELECT trace_id FROM ${scored})`)} WHERE model != '')`;
  const own = `SELECT ${columns}, s.trace_id AS trace_id, c.model AS model
    FROM (SELECT *, ifNull(span_id, toUUID('${NO_TRACE}')) AS span FROM ${scored}) AS s LEFT JOIN ${called} AS c ON c.trace_id = s.trace_id AND c.span_id = s.span`;
  const ofRun = `(SELECT trace_id, groupUniqArray(model) AS models FROM ${called} GROUP BY trace_id)`;
  // Without a match a join gives the empty text and the empty array.
  return `SELECT ${columns}, arrayJoin(if(o.model != '', [o.model], if(empty(m.models), [''], m.models))) AS key
    FROM (${own}) AS o LEFT JOIN ${ofRun} AS m ON m.trace_id = o.trace_id`;
}

/** The runs that a request counts. */
function runsOf(
  tenant: number,
  agents: AgentsOfUser,
  { agent_id, start_time, end_time, ...dimensions }: ScoreRequest,
): string {
  return [
    `tenant = ${tenant} AND kind = ${RUN_KINDS.indexOf('agent')}`,
    ...(agent_id === undefined ? [] : [`agent_no = ${agents.byId(agent_id)?.number ?? 0}`]),
    ...(start_time === undefined ? [] : [`hour >= ${hourOf(start_time)} AND started_at >= ${start_time}`]),
    ...(end_time === undefined ? [] : [`hour <= ${hourOf(end_time)} AND started_at < ${end_time}`]),
    ...dimensionsOf(dimensions),
  ].join(' AND ');
}
