import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';

const MOST_AGENTS = 100;

/** What a rule may look at: agents by their ids, services and metrics by their names. */
export function useTargets(needsMetrics: boolean) {
  const agents = useQuery({
    queryKey: ['agents-to-watch'],
    queryFn: async ({ signal }) => {
      const query = { page: 1, page_size: MOST_AGENTS };
      const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
      return Array.isArray(body) ? body : body.items;
    },
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
  return { agents, services: services.data ?? [], metrics: metrics.data ?? [] };
}
