import { useEffect, useEffectEvent, useState } from 'react';
import { BASE } from '../api/client.js';

/** What the stream tells of, by the name of the event. */
type StreamData = Readonly<Record<string, unknown>>;

/** A stream that was refused is tried again after this, then after twice as long each time, */
const FIRST_WAIT_MS = 1000;
/** up to this. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Follows `GET /dashboard/stream` while the page is seen: a browser has few connections to a host, and hidden tabs need none.
 *
 * @param topics null: nothing is followed. Asked for at each connection, as it may say from where
 * @param name changes where other topics are meant
 * @param onEvent called with each event of these names
 * @returns whether events are coming
 */
export function useStream(
  name: string | null,
  topics: () => string,
  names: readonly string[],
  onEvent: (event: string, data: StreamData) => void,
): boolean {
  const [isLive, setIsLive] = useState(false);
  const topicsNow = useEffectEvent(topics);
  const tell = useEffectEvent(onEvent);
  const listed = names.join(' ');
  useEffect(() => {
    if (name === null) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitMs = FIRST_WAIT_MS;
    const close = (): void => {
      clearTimeout(timer);
      source?.close();
      source = undefined;
      setIsLive(false);
    };
    const open = (): void => {
      close();
      const url = new URL('api/v1/dashboard/stream', BASE);
      url.searchParams.set('topics', topicsNow());
      const opened = new EventSource(url);
      source = opened;
      opened.addEventListener('open', () => {
        waitMs = FIRST_WAIT_MS;
        setIsLive(true);
      });
      opened.addEventListener('error', () => {
        // From where one goes on has changed since this connection began: so it is not the browser that connects again.
        close();
        timer = setTimeout(open, waitMs);
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      });
      for (const event of listed.split(' '))
        opened.addEventListener(event, ({ data }: MessageEvent<string>) => {
          tell(event, JSON.parse(data) as StreamData);
        });
    };
    const look = (): void => {
      if (document.hidden) close();
      else if (source === undefined) open();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      close();
    };
  }, [name, listed]);
  return isLive;
}
