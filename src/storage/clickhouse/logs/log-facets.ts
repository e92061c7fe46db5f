import { itemAt } from '../../../signal/checked.js';
import { SEVERITIES } from '../../../signal/log-record.js';
import {
  MOST_GROUP_VALUE,
  MOST_LOG_GROUPS,
  MOST_LOG_SERVICES,
  type LogBuckets,
  type LogFacets,
  type LogFilter,
  type LogGroups,
} from '../../contracts/logs.js';
import type { Connection } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import { attributeValue, logCondition } from './log-condition.js';

const FIRST_ERROR = SEVERITIES.indexOf('error');

/** Counts matching records by severity, service and time, in one statement so that the counts are consistent. */
export async function readLogFacets(
  connection: Connection,
  tenant: number,
  filter: Omit<LogFilter, 'start_time' | 'end_time'>,
  { interval, start_time, end_time }: LogBuckets,
  abort?: AbortSignal,
): Promise<LogFacets> {
  const { severity, service_name, ...others } = filter;
  const ofAnySeverity = service_name === undefined ? others : { ...others, service_name };
  const ofAnyService = severity === undefined ? others : { ...others, severity };
  const where = (some: LogFilter): string => logCondition(tenant, { ...some, start_time, end_time });
  const start = `timestamp - positiveModulo(timestamp, ${String(interval)})`;
  const rows = await connection.rows(
    [
      `SELECT 'bucket' AS part, ${start} AS number, '' AS name, count() AS n, countIf(severity >= ${String(FIRST_ERROR)}) AS others FROM logs WHERE ${where(filter)} GROUP BY number`,
      `SELECT 'severity', toInt64(severity) AS number, '', count() AS n, 0 FROM logs WHERE ${where(ofAnySeverity)} GROUP BY number`,
      // The sum covers all services, because it is computed before LIMIT.
      `SELECT * FROM (SELECT 'service', 0, toString(service_name) AS name, count() AS n, sum(n) OVER () FROM logs WHERE ${where(ofAnyService)} GROUP BY name ORDER BY n DESC, name LIMIT ${String(MOST_LOG_SERVICES)})`,
    ].join(' UNION ALL '),
    abort,
  );
  const of = (part: string) => rows.filter((row) => row.part === part);
  const buckets = of('bucket')
    .map(({ number, n, others }) => ({ start: Number(number), count: Number(n), errors: Number(others) }))
    .sort((a, b) => a.start - b.start);
  const services = of('service')
    .map(({ name, n }) => ({ name: String(name), count: Number(n) }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const ofServices = Number(of('service')[0]?.others ?? 0);
  return {
    count: buckets.reduce((sum, { count }) => sum + count, 0),
    severities: new Map(
      of('severity').map(({ number, n }) => [itemAt(SEVERITIES, Number(number)), Number(n)]),
    ),
    services,
    of_other_services: ofServices - services.reduce((sum, { count }) => sum + count, 0),
    buckets,
    counted_after: null,
  };
}

/** Counts matching records by the values of some attributes. */
export async function readLogGroups(
  connection: Connection,
  tenant: number,
  filter: LogFilter,
  attributes: readonly string[],
  abort?: AbortSignal,
): Promise<LogGroups> {
  const names = attributes.map((_, i) => `v${String(i)}`);
  const values = attributes.map((key, i) => {
    const has = `JSONHas(ifNull(attributes, ''), ${quoted(key)})`;
    return `if(${has}, leftUTF8(${attributeValue(key)}, ${String(MOST_GROUP_VALUE)}), NULL) AS v${String(i)}`;
  });
  const rows = await connection.rows(
    `SELECT ${[...values, 'count() AS n'].join(', ')} FROM logs WHERE ${logCondition(tenant, filter)} GROUP BY ${names.join(', ')} ORDER BY n DESC LIMIT ${String(MOST_LOG_GROUPS)}`,
    abort,
  );
  const groups = rows.map((row) => ({
    values: names.map((name) => row[name] as string | null),
    count: Number(row.n),
  }));
  return { groups, counted_after: null };
}
