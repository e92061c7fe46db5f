import { useEffect, useEffectEvent, useState } from 'react';
import { BASE } from '../api/base.js';
import { useMe } from '../shell/Session.js';
import { Hub, type Listener, type StreamData } from './hub.js';

const hubs = new Map<string, Hub>();

function hubOf(name: string, filters: Readonly<Record<string, string>>): Hub {
  const known = hubs.get(name);
  if (known) return known;
  const hub = new Hub(name, filters, () => hubs.delete(name));
  hubs.set(name, hub);
  return hub;
}

/**
 * Follows `GET /dashboard/stream` while the page is seen, by the one connection that all tabs of a browser have: a browser has few to
 * a host.
 *
 * @param topics null: nothing is followed. Asked for at each connection, as it may say from where
 * @param name changes where other topics are meant
 * @param onEvent called with each event of these names and topics. `open`: from now on everything is told, what came before is not; it
 *   comes again after a break. Runs are of every kind
 * @param filters what else the stream is asked for, as the API calls it; tabs share it with those that have the same. Others need another `name`
 * @returns whether events are coming
 */
export function useStream(
  name: string | null,
  topics: () => string,
  names: readonly string[],
  onEvent: (event: string, data: StreamData) => void,
  filters: Readonly<Record<string, string>> = {},
): boolean {
  const [isLive, setIsLive] = useState(false);
  const { user } = useMe();
  const topicsNow = useEffectEvent(topics);
  const tell = useEffectEvent(onEvent);
  const listed = names.join(' ');
  const asked = JSON.stringify(filters);
  useEffect(() => {
    if (name === null) return;
    const hub = hubOf(
      `jackdaw.stream ${BASE.pathname} ${user.id} ${asked}`,
      JSON.parse(asked) as Readonly<Record<string, string>>,
    );
    const listener: Listener = {
      topics: () => topicsNow(),
      names: new Set(listed.split(' ')),
      tell: (event, data) => {
        tell(event, data);
      },
      onLive: setIsLive,
      isOpen: false,
    };
    const leave = hub.join(listener);
    return () => {
      leave();
      setIsLive(false);
    };
  }, [name, listed, asked, user.id]);
  return isLive;
}
