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
 * Subscribes to `GET /dashboard/stream` while the page is visible, over the connection that all tabs share,
 * because browsers limit connections per host.
 *
 * @param topics null for none; read again for each connection
 * @param name identifies the topics
 * @param onEvent called with the events of these names. `open` means all later events are delivered; it
 * repeats after a reconnect
 * @param filters further query parameters; tabs with equal filters share a stream
 * @returns whether events are arriving
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
  const notify = useEffectEvent(onEvent);
  const listed = names.join(' ');
  const filterText = JSON.stringify(filters);
  useEffect(() => {
    if (name === null) return;
    const hub = hubOf(
      `jackdaw.stream ${BASE.pathname} ${user.id} ${filterText}`,
      JSON.parse(filterText) as Readonly<Record<string, string>>,
    );
    const listener: Listener = {
      topics: () => topicsNow(),
      names: new Set(listed.split(' ')),
      notify: (event, data) => {
        notify(event, data);
      },
      onLive: setIsLive,
      isOpen: false,
    };
    const leave = hub.join(listener);
    return () => {
      leave();
      setIsLive(false);
    };
  }, [name, listed, filterText, user.id]);
  return isLive;
}
