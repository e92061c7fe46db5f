import type { Target } from '../api-client.js';

/** What to look at once there is something to see, as lines for a shell. @param traceId a run worth a look */
export function nextSteps(target: Target, traceId: string | undefined): string {
  const needsKey = target.keySource === '--key' || target.keySource === 'JACKDAW_KEY';
  const assignment = needsKey
    ? `JACKDAW_KEY=…   # the key from ${target.keySource}`
    : `JACKDAW_KEY=$(cat ${target.keySource})`;
  const lines = [
    ['the agents and how they do', '/agents'],
    ['the latest runs that failed', '/dashboard/traces?status=failed&page_size=5'],
    ...(traceId === undefined ? [] : [['one of them, span by span', `/dashboard/traces/${traceId}`]]),
    ['30 days of one agent', '/agents/{id of an agent}/stats?days=30'],
  ] as const;
  const width = Math.max(...lines.map(([, path]) => path.length));
  const api = `${target.url}/api/v1`;
  return [
    '',
    `Look at it in a browser, ${target.url}/ (\`jackdaw login\` gives a link that logs you in), or by the API:`,
    `  ${assignment}`,
    ...lines.map(
      ([what, path]) =>
        `  curl -sH "Authorization: Bearer $JACKDAW_KEY" '${api}${path}'${' '.repeat(width - path.length)}  # ${what}`,
    ),
  ].join('\n');
}
