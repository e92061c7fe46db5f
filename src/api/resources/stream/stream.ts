import { Type, type Static } from 'typebox';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { lacksScope } from '../../../auth/scopes.js';
import { SEVERITIES } from '../../../signal/log-record.js';
import type { LogFilter } from '../../../storage/contracts/logs.js';
import type { ApiContext } from '../../support/api-context.js';
import { uuid } from '../../support/fields.js';
import { kindParameter } from '../../support/runs.js';
import { logParameters, MAX_LOG_QUERY, spanNeedsTrace } from '../logs.js';
import { serializeDaemon } from '../daemon.js';
import { DaemonFeed } from './daemon-feed.js';
import { DeliveryFeed } from './delivery-feed.js';
import { EdgeTaps, MOST_OF_USER } from './edge-taps.js';
import { EventStream } from './event-stream.js';
import { MOST_STREAMS, UserFeeds } from './feeds.js';
import { FollowedChanges } from './followed-changes.js';
import { newestInbox } from './inbox.js';
import { MOST_TRACES, readTopics, type Topics } from './topics.js';
import type { UserFeed } from './user-feed.js';
import { serializeChanged } from '../webhooks/organization-deliveries.js';
import type { AlertRule, RulesVersion } from '../../../storage/contracts/alerts.js';
import type { FollowedMoves } from '../../../storage/contracts/prompt-labels.js';
import { serializeMove } from '../prompt-labels.js';
import { serializeAlert } from '../alerts/alert-schema.js';

const MOST_DELIVERIES = 500;
const MOST_ALERTS = 1000;
const MOST_MOVES = 1000;

const MAX_TOPICS_LENGTH = 2000;

const followChanges = {
  id: 'followChanges',
  method: 'GET',
  path: '/api/v1/dashboard/stream',
  tag: 'stream',
  summary: 'Stream live updates as server-sent events',
  description: [
    'The data of each event is JSON. `open` is the first event.',
    '`run`: a new or changed run, as lists show it.',
    '`span`: changes of a followed run, as `readTraceSpans` returns them with `after`, but `scores` only in the first event of the run and after they changed.',
    '`log`: a stored log record, as `searchLogs` shows it, with long parts cut (`is_truncated`).',
    '`alert`: an alert that fired, ended or was changed, with `is_firing`.',
    '`prompt`: a label of a prompt that was moved or removed, as `listPromptLabelMoves` shows it; also `latest`, after the newest version was created or deleted.',
    '`delivery`: a delivery to an endpoint of one of the caller’s organizations that was queued or retried, or whose attempt ended, as `listOrganizationDeliveries` shows it, with its `org_slug`.',
    '`edges`: the daemon as `readDaemon` returns it, immediately and then every two seconds.',
    '`tap`: an item that passed an edge, with its result: `{at, signal, batch_items, duration_ms, outcome, reason, is_truncated, item}`. `outcome` is `taken`, `refused` or `failed`; `item` is cut and omits empty fields. Taps are a sample and contain only items of the caller.',
    '`lost {topic, count}`: items of a topic were omitted because the stream or its reader was too slow; a null count is unknown. Read them with the route of the topic.',
    '`bye {reason}`: the stream ends because the daemon stops (`shutting_down`) or the key or login is no longer valid (`signed_out`).',
    'Changes are sent at most four times a second, and a comment at least every seven seconds.',
    `A user may have ${MOST_STREAMS} streams, of which ${MOST_OF_USER} may tap an edge.`,
  ].join(' '),
  access: 'read',
  mediaType: 'text/event-stream',
  headers: {
    request: {
      'Last-Event-ID':
        'Id of the last event received: changes of runs resume after it if it is at most a minute old and at most 2000 runs have changed; other topics report `lost`.',
    },
  },
  query: Type.Object({
    topics: Type.String({
      minLength: 1,
      maxLength: MAX_TOPICS_LENGTH,
      description: `Comma-separated: \`runs\`, \`logs\`, \`alerts\`, \`deliveries\`, \`daemon\` and \`tap\` (which need the scope \`admin\`), \`trace:ID\`, \`trace:ID@SEQ\` (changes of the run after this \`seq\` of its summary); at most ${MOST_TRACES} runs.`,
    }),
    kind: kindParameter,
    agent_id: Type.Optional(uuid('For `runs`: only runs of this agent.')),
    query: Type.Optional(
      Type.String({
        maxLength: MAX_LOG_QUERY,
        description: 'For `logs`, as in `searchLogs`; this also applies to the next parameters.',
      }),
    ),
    service_name: Type.Optional(Type.String()),
    severity: Type.Optional(Type.Enum(SEVERITIES)),
    trace_id: Type.Optional(uuid()),
    span_id: Type.Optional(uuid('Needs `trace_id`.')),
    event_name: logParameters.event_name,
    'attribute.KEY': logParameters['attribute.KEY'],
    pipeline: Type.Optional(
      Type.String({
        maxLength: 300,
        description: 'For `tap`: the pipeline of the edge; required, with `from` and `to`.',
      }),
    ),
    from: Type.Optional(
      Type.String({
        maxLength: 350,
        description: 'For `tap`: start of the edge, such as `receiver:otlp`.',
      }),
    ),
    to: Type.Optional(
      Type.String({
        maxLength: 350,
        description: 'For `tap`: end of the edge, such as `exporter:storage`.',
      }),
    ),
  }),
  responses: { 200: Type.String({ description: 'Endless server-sent events.' }) },
  errors: [429],
} satisfies Operation;

type Query = Static<typeof followChanges.query>;

/** `GET /dashboard/stream`. */
export function streamRoutes(context: ApiContext<'arrivals' | 'runs'>): readonly Route[] {
  const { routes, telemetry, control, identityNow, clock } = context;
  const desk = new UserFeeds(telemetry.arrivals, clock);
  const alerts = new FollowedChanges<AlertRule, RulesVersion>(
    {
      watch: control.watch,
      topic: 'rules',
      read: async (since) => {
        const { put, version } = await control.alerts.follow(since);
        return { changes: put, position: version, hasMore: false };
      },
    },
    clock,
  );
  const moves = new FollowedChanges<FollowedMoves['moves'][number], number>(
    {
      watch: control.watch,
      topic: 'prompts',
      read: async (since) => {
        const { moves: changes, ...place } = await control.promptLabels.follow(since);
        return { changes, ...place };
      },
    },
    clock,
  );
  const deliveries = new DeliveryFeed(control, clock);
  const taps = new EdgeTaps(context.daemon, clock);
  const daemon = new DaemonFeed(() => JSON.stringify(serializeDaemon(context)), clock);
  return [
    routes.route(followChanges).to(({ identity, query, request }) => {
      const { userId, keyId, scopes } = identity;
      const topics = readTopics(query.topics);
      if ((topics.daemon || topics.tap) && !scopes.includes('admin')) throw lacksScope('admin');
      const logFilter = logFilterOf(query);
      const tap = topics.tap ? [taps.inbox(userId, query)] : [];
      const seat = desk.take(userId);
      const { kind = 'agent', agent_id } = query;
      const stream = new EventStream({
        userId,
        topics,
        runFilter: {
          ...(kind === 'all' ? {} : { kind }),
          ...(agent_id && { agent_id: agent_id.toLowerCase() }),
        },
        logFilter,
        ...placeOf(request.header('last-event-id'), desk.era, seat.feed, topics),
        era: desk.era,
        seat,
        runs: telemetry.runs,
        inboxes: [
          ...(topics.alerts
            ? [
                newestInbox<AlertRule>({
                  event: 'alert',
                  topic: 'alerts',
                  most: MOST_ALERTS,
                  keyOf: ({ alert }) => alert.id,
                  serialize: (rule) => serializeAlert(rule, scopes),
                  enter: (notify) => alerts.enter(userId, notify),
                }),
              ]
            : []),
          ...(topics.prompts
            ? [
                newestInbox<FollowedMoves['moves'][number]>({
                  event: 'prompt',
                  topic: 'prompts',
                  most: MOST_MOVES,
                  keyOf: ({ name, label }) => `${label} ${name}`,
                  serialize: serializeMove,
                  enter: (notify) => moves.enter(userId, notify),
                }),
              ]
            : []),
          ...(topics.deliveries
            ? [
                newestInbox({
                  event: 'delivery',
                  topic: 'deliveries',
                  most: MOST_DELIVERIES,
                  keyOf: ({ id }) => id,
                  serialize: serializeChanged,
                  enter: (notify, lose) => deliveries.enter({ userId, notify, lose }),
                }),
              ]
            : []),
          ...(topics.daemon ? [daemon.inbox] : []),
          ...tap,
        ],
        isAllowed: () => {
          const now = identityNow(request);
          return now?.userId === userId && now.keyId === keyId;
        },
        gone: request.abort,
        draining: request.draining,
        clock,
      });
      // Otherwise buffering proxies would delay the events.
      const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
      return { status: 200, encoded: stream, headers };
    }),
  ];
}

function logFilterOf(asked: Query): LogFilter {
  const { query, service_name, severity, trace_id, span_id, event_name } = asked;
  const attributes = asked['attribute.KEY'];
  spanNeedsTrace({ trace_id, span_id });
  return {
    ...(query === undefined ? {} : { query }),
    ...(service_name === undefined ? {} : { service_name }),
    ...(severity === undefined ? {} : { severity }),
    ...(trace_id === undefined ? {} : { trace_id: trace_id.toLowerCase() }),
    ...(span_id === undefined ? {} : { span_id: span_id.toLowerCase() }),
    ...(event_name === undefined ? {} : { event_name }),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

/** The position at which a resumed stream starts, and the topics that it cannot catch up on. */
function placeOf(
  lastEventId: string | undefined,
  era: string,
  feed: UserFeed,
  { runs, logs, alerts, prompts, deliveries, tap }: Topics,
): { readonly after: number | null; readonly missed: readonly string[] } {
  if (lastEventId === undefined || lastEventId === '') return { after: null, missed: [] };
  const [of, number = ''] = lastEventId.split('.');
  const goesOn = of === era && /^\d{1,15}$/.test(number) && feed.remembers(Number(number));
  const missed = [
    ...(runs && !goesOn ? ['runs'] : []),
    ...(logs ? ['logs'] : []),
    ...(alerts ? ['alerts'] : []),
    ...(prompts ? ['prompts'] : []),
    ...(deliveries ? ['deliveries'] : []),
    ...(tap ? ['tap'] : []),
  ];
  return { after: goesOn ? Number(number) : null, missed };
}
