import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { ratesOf, remembered, type Rates, type Snapshot } from '../../graph/flow.js';
import { useStream } from '../../live/use-stream.js';

export type Daemon = Schemas['Daemon'];
export type Component = Schemas['DaemonComponent'];

const DAEMON = ['daemon'] as const;
/** Without a stream. */
const WITHOUT_STREAM_MS = 5000;

/** The state of the daemon and the rate of each edge; rates are null until two samples exist. */
export function useDaemon() {
  const client = useQueryClient();
  const [history, setHistory] = useState<readonly Snapshot[]>([]);
  const isLive = useStream(
    'daemon',
    () => 'daemon',
    ['edges'],
    (_, snapshot) => {
      client.setQueryData(DAEMON, snapshot);
    },
  );
  const { data, error, refetch } = useQuery({
    queryKey: DAEMON,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/daemon', { signal })),
    refetchInterval: isLive ? false : WITHOUT_STREAM_MS,
  });
  const next = data ? remembered(history, data) : history;
  if (next !== history) setHistory(next);
  const rates: ReadonlyMap<string, Rates> | null = useMemo(() => ratesOf(next), [next]);
  return { data, error, refetch, rates, isLive };
}
