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
  useOnRest(typed, value, onRest);
  return [typed, setTyped];
}

/** A text as it was when it last rested: what is costly to ask for is asked when typing rests. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useOnRest(value, settled, setSettled);
  return settled;
}

/** Hands a text on when it has not changed for a moment, and is not what is in force. */
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
