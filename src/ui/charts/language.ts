/**
 * Replaces the language `en-US@posix`, which browsers started with `LANG=C` report and `Intl` rejects. Call
 * it before any page loads, because uPlot formats with the language on import.
 */
export function fixLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  }
}
