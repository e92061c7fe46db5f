import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';

const REFRESH_MS = 15_000;

/** Refused items of the user. */
export function useRejections() {
  return useQuery({
    queryKey: ['rejections'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/dashboard/rejections', { signal })),
    refetchInterval: REFRESH_MS,
  });
}
