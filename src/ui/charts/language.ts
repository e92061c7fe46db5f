/**
 * A browser started with `LANG=C` says that its language is `en-US@posix`, with which nothing can be formatted; uPlot asks for
 * that when it is loaded, and the page would not open. To be called before any page is.
 */
export function mendLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  }
}
