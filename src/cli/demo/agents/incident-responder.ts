import { write, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  alert: [
    '{service}: p99 latency above {800-4000} ms for {5-20} min',
    '{service}: error rate {3-30} %',
    '{service}: queue depth {2000-90000}',
    '{service}: disk {88-97} % full',
    '{service}: {2-9} restarts in {10-30} min',
  ],
  hypothesis: [
    'The rise began at {10-23}:{10-59}, three minutes after release {2-9}.{10-40}.{0-9} of {service}. Error logs speak of a pool that is exhausted (`too many clients`). I suspect that the release opens a connection per request. Next: compare the number of connections before and after.',
    'Latency follows the depth of the {service} queue, and traffic is flat, so the consumers have become slower. CPU of the consumers is at {20-45} %: they wait for something. Next: look at calls to {service} and its database.',
    'Only pods on node pool {1-4} are affected, all of them with memory above {85-99} %. The kernel log shows kills. Next: check whether a limit was changed in the last {12-72} hours.',
    'There is no change in code or configuration. The upstream {service} answers slowly from {city} only, which points to the network. Next: compare regions.',
  ],
  query: [
    'service:{service} level:error',
    'service:{service} "timeout" -level:debug',
    'sum by (pod) (rate(http_requests_total{service="{service}"}[5m]))',
    'histogram_quantile(0.99, rate(latency_bucket{service="{service}"}[5m]))',
  ],
  summary: [
    '**What happened:** {service} answered slowly for {9-55} minutes. **Cause:** a release opened too many connections. **What was done:** rolled back to {2-9}.{10-40}. **Follow-up:** a limit on the pool, and an alert on its use.',
    '**What happened:** messages for {service} piled up. **Cause:** a slow query after statistics went stale. **What was done:** analysed the table, consumers caught up in {4-40} minutes. **Follow-up:** owner {person}.',
  ],
} satisfies Grammar;

const SYSTEM =
  'You are on call for a platform of some forty services. Find the likely cause of the alert with the tools given, one hypothesis at a time, cheapest check first. You may read everything; restarting, scaling and rolling back need the approval of the person on call. Write short.';

function investigate(recorder: Recorder): void {
  const { random } = recorder;
  recorder.model({
    model: MODELS.sonnet,
    fallback: MODELS.gpt5,
    name: 'form hypothesis',
    system: SYSTEM,
    prompt: write(random, GRAMMAR, 'Alert: {alert}. What do you check next?'),
    completion: write(random, GRAMMAR, '{hypothesis}'),
    contextTokens: 4200,
  });
  const checks = random.integer(1, 2);
  for (let check = 0; check < checks; check += 1) {
    const [tool, host] = random.pick([
      ['query_logs', 'logs'],
      ['query_metrics', 'metrics'],
      ['list_deployments', 'deploy'],
    ] as const);
    recorder.survives(() => {
      recorder.tool(
        tool,
        { query: write(random, GRAMMAR, '{query}'), minutes: random.integer(15, 120) },
        () => {
          recorder.http({ method: 'POST', url: `https://${host}.internal.example.com/api/query`, ms: 520 });
          return { rows: random.integer(0, 900) };
        },
      );
    });
  }
}

function run(recorder: Recorder) {
  const { random } = recorder;
  return recorder.agent(
    'incident-responder',
    { alert: write(random, GRAMMAR, '{alert}'), severity: random.integer(1, 4) },
    (root) => {
      recorder.http({
        method: 'GET',
        url: `https://pager.example.com/incidents/${random.integer(1000, 9999)}`,
        ms: 150,
      });
      const rounds = random.integer(2, 4);
      for (let round = 0; round < rounds; round += 1) investigate(recorder);
      if (random.chance(0.35)) {
        recorder.tool(
          'request_approval',
          { action: random.pick(['rollback', 'restart', 'scale_out']) },
          () => {
            recorder.pass(24_000, 0.7);
            return { approved: random.chance(0.8) };
          },
        );
      }
      recorder.model({
        model: MODELS.haiku,
        name: 'write summary',
        prompt: 'Summarise the incident for the channel: what happened, cause, what was done, follow-up.',
        completion: write(random, GRAMMAR, '{summary}'),
        contextTokens: 2600,
      });
      recorder.http({ method: 'POST', url: 'https://chat.example.com/api/post', ms: 110 });
      root.output = { rounds };
      return drawVerdict(recorder, [
        { outcome: 'cause_found', success: true, weight: 88 },
        { outcome: 'handed_over', success: false, weight: 20 },
        { outcome: 'false_alarm', success: true, weight: 14 },
      ]);
    },
  );
}

/** Looks for the cause of alerts, round after round. */
export const incidentResponder: AgentProfile = {
  name: 'incident-responder',
  weight: 5,
  rhythm: 'steady',
  sdkVersion: '0.4.1',
  metadata: { environment: 'production', team: 'reliability', region: 'us-east-1' },
  run,
};
