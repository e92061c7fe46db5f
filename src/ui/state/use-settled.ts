import { useEffect, useState } from 'react';

const PAUSE_MS = 300;

/** A text as it was when it last rested: what is costly to ask for is asked when typing rests. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => {
      setSettled(value);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  });
  return settled;
}
