import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';

const MAX_AGENTS = 100;

/**
 * Possible targets of a rule: agents by id, services and metrics by name.
 *
 * @param agent id of the selected agent, which is loaded even if the search excludes it; empty for none
 * @param search text in agent names
 */
export function useTargets(needsMetrics: boolean, agent: string, search: string) {
  const agents = useQuery({
    queryKey: ['agents-to-watch', search],
    queryFn: async ({ signal }) => {
      const query = { page: 1, page_size: MAX_AGENTS, ...(search === '' ? {} : { query: search }) };
      const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
      return Array.isArray(body) ? { items: body, count: body.length } : body;
    },
    placeholderData: keepPreviousData,
  });
  const isListed = agents.data?.items.some(({ id }) => id === agent) ?? true;
  const selected = useQuery({
    queryKey: ['agent-to-watch', agent],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: agent } }, signal })),
    enabled: agent !== '' && !isListed,
  });
  const services = useQuery({
    queryKey: ['services-to-watch'],
    queryFn: async ({ signal }) => {
      const map = await bodyOf(api.GET('/api/v1/dashboard/service-map/', { signal }));
      return map.nodes.map(({ id }) => id);
    },
  });
  const metrics = useQuery({
    queryKey: ['metrics-to-watch'],
    queryFn: async ({ signal }) => {
      const body = await bodyOf(api.GET('/api/v1/dashboard/metrics/', { signal }));
      return (Array.isArray(body) ? body : []).map(({ name }) => name);
    },
    enabled: needsMetrics,
  });
  return { agents, selected: selected.data, services: services.data ?? [], metrics: metrics.data ?? [] };
}
