import fc, { type IProperty, type Parameters } from 'fast-check';
import type { Test } from 'tap';

/** One assertion of a test: the property holds; the message of a failure tells the counterexample and the seed. */
export function holds<Values>(t: Test, property: IProperty<Values>, parameters?: Parameters<Values>): void {
  const found = fc.check(property, parameters);
  t.notOk(found.failed, found.failed ? (fc.defaultReportMessage(found) ?? 'the property fails') : 'it holds');
}
