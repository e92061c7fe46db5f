import { createContext, use, useEffect, useState, type ReactNode } from 'react';

const ClockContext = createContext(0);
/** Enough for relative times and running bars. */
const TICK_MS = 1000;

/** One timer for the page; paused while hidden. */
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

/** The current time in milliseconds, updated every second. */
export function useNow(): number {
  return use(ClockContext);
}

/** The current time while something runs; otherwise fixed, without a timer. */
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
