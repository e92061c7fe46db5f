/**
 * The method names of a contract: a missing or an extra name does not compile. All methods return promises, because nothing else
 * can cross a port.
 */
export type MethodsOf<Contract> = {
  readonly [Name in keyof Contract]: Contract[Name] extends (...args: never[]) => Promise<unknown>
    ? true
    : never;
};

/**
 * Calls a method at the other end of a port.
 *
 * @param abort aborted when the caller no longer needs the result
 */
export type CallMethod = (method: string, args: readonly unknown[], abort?: AbortSignal) => Promise<unknown>;

/** Implements a contract by calls. An abort signal among the arguments is passed separately, because it cannot be cloned. */
export function contractOver<Contract>(
  methods: { readonly [Name in keyof Contract]: true },
  call: CallMethod,
): Contract {
  const calls = Object.keys(methods).map((method) => {
    const calling = async (...args: readonly unknown[]): Promise<unknown> => {
      const abort = args.find((value) => value instanceof AbortSignal);
      return await call(method, abort === undefined ? args : args.filter((value) => value !== abort), abort);
    };
    return [method, calling] as const;
  });
  return Object.fromEntries(calls) as Contract;
}
