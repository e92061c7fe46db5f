import { keepPreviousData, useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.js';
import { traceIdIn } from '../format/trace-id.js';
import { formatRule } from '../pages/alerts/labels.js';
import { endpointName } from '../pages/webhooks/labels.js';
import { promptPath, runsOfModel, sessionPath } from '../state/path.js';
import { useSettled } from '../state/use-debounced.js';
import { useViews } from '../state/views.js';
import { placesFor } from './places.js';
import { useMe } from './Session.js';

/** A navigation target. */
export interface Target {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
}

/** Limit of all results, and of one kind if there are several. */
const LIMIT = 14;
const MAX_OF_A_KIND = 6;
/** How long complete lists are cached, such as alerts and endpoints. */
const KEPT_MS = 60_000;
const MAX_ORGANIZATIONS = 10;
const MAX_MODELS = 100;

/** Matching targets, the best of each kind first. @param query trimmed input */
export function useTargets(query: string): readonly Target[] {
  const { scopes } = useMe();
  const views = useViews().data ?? [];
  const named = useNamed(useSettled(query));
  const word = query.toLowerCase();
  const trace = traceIdIn(query);
  const kinds: readonly (readonly Target[])[] = [
    views.map(({ path, name }) => ({ path, name, kind: 'view' })),
    placesFor(scopes).map(({ path, name }) => ({ path, name, kind: 'page' })),
    ...named,
  ];
  const fitting = kinds.map((targets) => bestOf(targets, word));
  // Kinds with few matches leave room for others; pages have no name.
  const isCrowded = fitting.reduce((sum, { length }) => sum + length, 0) > LIMIT && word !== '';
  const found = fitting.flatMap((targets) => (isCrowded ? targets.slice(0, MAX_OF_A_KIND) : targets));
  return [...(trace === undefined ? [] : ofTrace(trace, query)), ...found.slice(0, LIMIT), ...ofText(query)];
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

/** Any text may be a session id or part of a run, so no request is sent. */
function ofText(text: string): readonly Target[] {
  if (text === '') return [];
  return [
    { path: `/runs?q=${encodeURIComponent(text)}`, name: `Runs with “${text}”`, kind: 'search' },
    { path: sessionPath(text), name: text, kind: 'session with this id' },
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

/** Named items by kind. Only agents are loaded before any input. */
function useNamed(query: string): readonly (readonly Target[])[] {
  const isTyped = query !== '';
  const kept = { enabled: isTyped, staleTime: KEPT_MS, retry: false };
  const agents = useQuery({
    queryKey: ['agents', 'named', query],
    queryFn: async ({ signal }) => {
      const asked = { query, page: 1, page_size: LIMIT };
      const body = await bodyOf(api.GET('/api/v1/agents', { params: { query: asked }, signal }));
      return Array.isArray(body) ? body : body.items;
    },
    placeholderData: keepPreviousData,
  });
  const prompts = useQuery({
    queryKey: ['prompts', 'named', query],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/prompts/names', {
          params: { query: { query, page_size: LIMIT } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled: isTyped,
  });
  const models = useQuery({
    ...kept,
    queryKey: ['models', 'named'],
    queryFn: ({ signal }) => {
      const asked = { page: 1, page_size: MAX_MODELS };
      return bodyOf(api.GET('/api/v1/dashboard/models', { params: { query: asked }, signal }));
    },
  });
  const alerts = useQuery({
    ...kept,
    queryKey: ['alerts', 'named'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/alerts', { signal })),
  });
  return [
    toTargets(agents.data, ({ id, name }) => ({ path: `/agents/${id}`, name, kind: 'agent' })),
    toTargets(prompts.data?.items, (name) => ({ path: promptPath(name), name, kind: 'prompt' })),
    toTargets(
      models.data?.items.flatMap(({ model }) => model ?? []),
      (name) => ({ path: runsOfModel(name), name, kind: 'runs with this model' }),
    ),
    toTargets(alerts.data, (rule) => ({
      path: `/alerts/${rule.id}`,
      name: [formatRule(rule), rule.agent_name ?? rule.target_service].filter(Boolean).join(': '),
      kind: 'alert',
    })),
    useEndpointTargets(kept),
  ];
}

function toTargets<Item>(
  items: readonly Item[] | undefined,
  target: (item: Item) => Target,
): readonly Target[] {
  return items?.map(target) ?? [];
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
