import { keepPreviousData, useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../api/client.js';
import { formatCounted } from '../format/number.js';
import { traceIdIn } from '../format/trace-id.js';
import { ruleName } from '../pages/alerts/labels.js';
import { printPlace } from '../pages/logs/logs-state.js';
import { endpointName } from '../pages/webhooks/labels.js';
import { promptPath, runsOfModel, sessionPath } from '../state/path.js';
import { ALERT_RULES } from '../state/queries.js';
import { rangeBetween } from '../state/range.js';
import { useSettled } from '../state/use-debounced.js';
import { useViews } from '../state/views.js';
import { placesFor } from './places.js';
import { useMe } from './Session.js';

/** A navigation target. */
export interface Target {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  /** Text in which the query was found. */
  readonly snippet?: string;
  /** Start and end of each match in the snippet. */
  readonly marks?: readonly (readonly number[])[];
  /** ISO 8601 */
  readonly at?: string;
}

/** Limit of all results with names, and of one kind if there are several. */
const LIMIT = 14;
const MAX_OF_A_KIND = 6;
/** Limit of runs, of log records, and of each kind of named things that the API searches. */
const MAX_FOUND = 5;
/** How long complete lists are cached, such as alerts and endpoints. */
const KEPT_MS = 60_000;
const MAX_ORGANIZATIONS = 10;
/** The period around a record that its link shows. */
const AROUND_MS = 300_000;

/**
 * Matching targets: named ones, the best of each kind first, then runs and log records that contain the words.
 *
 * @param query trimmed input
 */
export function useTargets(query: string): {
  readonly targets: readonly Target[];
  readonly isSearching: boolean;
} {
  const { scopes } = useMe();
  const views = useViews().data ?? [];
  const settled = useSettled(query);
  const search = useQuery({
    queryKey: ['search-all', settled],
    queryFn: ({ signal }) => {
      const asked = { query: settled, limit: MAX_FOUND };
      return bodyOf(api.GET('/api/v1/dashboard/search', { params: { query: asked }, signal }));
    },
    enabled: settled !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const found = query === '' ? undefined : search.data;
  const listed = useListed(query !== '');
  const word = query.toLowerCase();
  const trace = traceIdIn(query);
  const kinds: readonly (readonly Target[])[] = [
    views.map(({ path, name }) => ({ path, name, kind: 'view' })),
    placesFor(scopes).map(({ path, name }) => ({ path, name, kind: 'page' })),
    ...namedIn(found),
    ...listed,
  ];
  const fitting = kinds.map((targets) => bestOf(targets, word));
  // Kinds with few matches leave room for others; pages have no name.
  const isCrowded = fitting.reduce((sum, { length }) => sum + length, 0) > LIMIT && word !== '';
  const named = fitting.flatMap((targets) => (isCrowded ? targets.slice(0, MAX_OF_A_KIND) : targets));
  return {
    targets: [
      ...(trace === undefined ? [] : ofTrace(trace, query)),
      ...named.slice(0, LIMIT),
      // Of an earlier query, Enter would open a run without the words.
      ...(search.isPlaceholderData || settled !== query ? [] : textsIn(found)),
      ...ofText(query),
    ],
    isSearching: query !== '' && (search.isFetching || settled !== query),
  };
}

function ofTrace(trace: string, name: string): readonly Target[] {
  return [
    { path: `/traces/${trace}`, name, kind: 'run' },
    {
      path: `/usage?trace=${trace}`,
      name: 'Where is this trace?',
      kind: 'stored, refused or never received',
    },
  ];
}

/** The pages that search further than this. */
function ofText(text: string): readonly Target[] {
  if (text === '') return [];
  const words = encodeURIComponent(text);
  return [
    { path: `/runs?kind=all&q=${words}`, name: `All runs with “${text}”`, kind: 'search' },
    { path: `/logs?q=${words}`, name: `Log records with “${text}”`, kind: 'search' },
  ];
}

type Found = Schemas['FoundEverywhere'];

/** Found names by kind. */
function namedIn(found: Found | undefined): readonly (readonly Target[])[] {
  if (!found) return [];
  return [
    found.agents.map(({ id, name }) => ({ path: `/agents/${id}`, name, kind: 'agent' })),
    found.prompts.map((name) => ({ path: promptPath(name), name, kind: 'prompt' })),
    found.models.map((name) => ({ path: runsOfModel(name), name, kind: 'runs with this model' })),
    found.users.map(({ value, runs }) => ({
      path: `/runs?kind=all&user=${encodeURIComponent(value)}`,
      name: value,
      kind: `user, ${formatCounted(runs, 'run')}`,
    })),
    found.sessions.map(({ value, runs }) => ({
      path: sessionPath(value),
      name: value,
      kind: `session, ${formatCounted(runs, 'run')}`,
    })),
  ];
}

/** Found runs and log records. */
function textsIn(found: Found | undefined): readonly Target[] {
  if (!found) return [];
  return [
    ...found.runs.map(({ trace_id, agent_name, started_at, match }) => ({
      path: `/traces/${trace_id}${match?.span_id ? `?span=${match.span_id}` : ''}`,
      name: agent_name === '' ? '(no name)' : agent_name,
      kind: 'run',
      at: started_at,
      ...(match && { snippet: match.snippet, marks: match.marks }),
    })),
    ...found.logs.map((record) => {
      const at = Date.parse(record.timestamp);
      const range = encodeURIComponent(rangeBetween(at - AROUND_MS, at + AROUND_MS));
      return {
        path: `/logs?range=${range}&record=${encodeURIComponent(printPlace(record))}`,
        name: record.service_name === '' ? '(no service)' : record.service_name,
        kind: 'log record',
        at: record.timestamp,
        snippet: record.body ?? record.event_name ?? '',
      };
    }),
  ];
}

/** Targets whose name contains the word: exact matches, then prefixes, then the rest. */
function bestOf(targets: readonly Target[], word: string): readonly Target[] {
  const rank = (target: Target): number => {
    const name = target.name.toLowerCase();
    return name === word ? 0 : name.startsWith(word) ? 1 : 2;
  };
  return targets.filter(({ name }) => name.toLowerCase().includes(word)).sort((a, b) => rank(a) - rank(b));
}

/** Targets from complete lists, by kind. */
function useListed(isTyped: boolean): readonly (readonly Target[])[] {
  const kept = { enabled: isTyped, staleTime: KEPT_MS, retry: false };
  const alerts = useQuery({ ...ALERT_RULES, ...kept });
  const ofAlerts = (alerts.data ?? []).map((rule) => ({
    path: `/alerts/${rule.id}`,
    name: [ruleName(rule), rule.all_agents ? 'All agents' : (rule.agent_name ?? rule.target_service)]
      .filter(Boolean)
      .join(': '),
    kind: 'alert',
  }));
  return [ofAlerts, useEndpointTargets(kept)];
}

/** Webhook endpoints of the user's organizations. */
function useEndpointTargets(kept: {
  readonly enabled: boolean;
  readonly staleTime: number;
  readonly retry: boolean;
}): readonly Target[] {
  const { memberships } = useMe();
  return useQueries({
    queries: memberships.slice(0, MAX_ORGANIZATIONS).map(({ slug }) => ({
      ...kept,
      queryKey: ['endpoints', slug, 'named'],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { path: { org_slug: slug } };
        const endpoints = await bodyOf(
          api.GET('/api/v1/org/{org_slug}/webhooks/endpoints', { params, signal }),
        );
        return endpoints.map((endpoint) => ({
          path: `/webhooks/${slug}?endpoint=${endpoint.id}`,
          name: endpointName(endpoint),
          kind: 'webhook endpoint',
        }));
      },
    })),
    combine: joined,
  });
}

function joined(results: readonly UseQueryResult<readonly Target[]>[]): readonly Target[] {
  return results.flatMap(({ data }) => data ?? []);
}
