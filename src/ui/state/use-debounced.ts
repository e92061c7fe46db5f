import { useEffect, useState } from 'react';

const PAUSE_MS = 250;

/**
 * A text field that updates at once and reports after a pause in typing.
 *
 * @param value the current value
 * @param onRest called with the typed text
 */
export function useDebounced(
  value: string,
  onRest: (value: string) => void,
): readonly [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // Changed elsewhere, for example by going back.
    setKnown(value);
    setTyped(value);
  }
  useOnRest(typed, value, onRest);
  return [typed, setTyped];
}

/** A text after a pause in typing, for expensive requests. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useOnRest(value, settled, setSettled);
  return settled;
}

/** Reports a text that did not change for a moment and differs from the current value. */
function useOnRest(typed: string, inForce: string, onRest: (typed: string) => void): void {
  useEffect(() => {
    if (typed === inForce) return;
    const timer = setTimeout(() => {
      onRest(typed);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  });
}
