import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import { HOUR, printHours, type Hours } from '../../graph/hours.js';

const REFRESH_MS = 60_000;
/** Limit of the route. */
const MAX_HOURS = 8784;

/** The map of some hours. @param hours undefined sends no request */
export function useMap(hours: Hours | undefined) {
  return useQuery({
    queryKey: ['map', hours],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/service-map/', {
          params: { query: hours?.start === undefined ? { hours: 0 } : printHours(hours) },
          signal,
        }),
      ),
    enabled: hours !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Hours with spans. @param start first hour in milliseconds */
export function useMapHours(start: number | undefined, now: number) {
  const hours =
    start === undefined ? MAX_HOURS : Math.min(MAX_HOURS, Math.max(1, Math.ceil((now - start) / HOUR)));
  return useQuery({
    queryKey: ['map hours', hours],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/dashboard/service-map/hours', { params: { query: { hours } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
