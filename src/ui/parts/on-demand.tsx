import { useEffect, useState, type ComponentType, type ReactNode } from 'react';

/** A module with one component. */
interface Loaded<Props> {
  readonly default: ComponentType<Props>;
}

/** Loads a component module. */
export type Load<Props> = () => Promise<Loaded<Props>>;

/**
 * A component whose module is loaded when first rendered. Unlike `lazy`, it avoids the 300 ms for which
 * React keeps a `Suspense` fallback visible. A failure is thrown to the error boundary; the next attempt
 * loads again.
 *
 * @param waiting shown while loading
 */
export function onDemand<Props extends object>(load: Load<Props>, waiting: ReactNode): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function OnDemand(props: Props) {
    const [Shown, show] = useState(() => loaded);
    const [failure, fail] = useState<{ readonly error: unknown } | null>(null);
    useEffect(() => {
      if (Shown !== null) return undefined;
      let isGone = false;
      load().then(
        ({ default: component }) => {
          loaded = component;
          if (!isGone) show(() => component);
        },
        (error: unknown) => {
          if (!isGone) fail({ error });
        },
      );
      return () => {
        isGone = true;
      };
    }, [Shown]);
    if (failure !== null) throw failure.error;
    return Shown === null ? waiting : <Shown {...props} />;
  };
}
