import { useCallback, useState } from 'react';

/**
 * A value stored in the browser if it allows storage; otherwise it lasts for the page.
 *
 * @param read the value of a stored text, or undefined for invalid text
 */
export function useRemembered<Value extends string | number>(
  name: string,
  read: (text: string) => Value | undefined,
  initial: Value,
): readonly [Value, (value: Value) => void] {
  const key = `jackdaw.${name}`;
  const [value, setValue] = useState(() => {
    try {
      return read(localStorage.getItem(key) ?? '') ?? initial;
    } catch {
      return initial;
    }
  });
  const keep = useCallback(
    (next: Value) => {
      setValue(next);
      try {
        localStorage.setItem(key, String(next));
      } catch {
        // Storage may be denied.
      }
    },
    [key],
  );
  return [value, keep];
}
