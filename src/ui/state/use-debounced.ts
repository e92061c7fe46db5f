import { useEffect, useState } from 'react';

const PAUSE_MS = 250;

/**
 * A text that one types: what stands in the field at once, and handed on when typing rests.
 *
 * @param value what is in force
 * @param onRest takes what was typed
 */
export function useDebounced(
  value: string,
  onRest: (value: string) => void,
): readonly [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // It was changed by something else, such as going back.
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => {
      onRest(typed);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  });
  return [typed, setTyped];
}
