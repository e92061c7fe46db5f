import { createContext, use, useEffect, useState, type ReactNode } from 'react';

const ClockContext = createContext(0);
/** Relative times and running bars need no more. */
const TICK_MS = 1000;

/** One tick for the whole page; it rests while nobody looks. */
export function ClockProvider({ children }: { readonly children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return <ClockContext value={now}>{children}</ClockContext>;
}

/** The time, to the second. In milliseconds since the epoch. */
export function useNow(): number {
  return use(ClockContext);
}

/** The time to the second while something runs; the moment of the first call where nothing does, without any ticks. */
export function useNowWhile(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isRunning]);
  return now;
}
