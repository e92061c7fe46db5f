/**
 * The current tier: `default` (`npm test`), `wider` (`npm run test:wider`), or undefined for files run by hand, which test everything.
 *
 * Suites for every store are in both: embedded stores in the default tier, servers in the wider one.
 */
const TIER = process.env['JACKDAW_TEST_TIER'];

/** The `skip` option of tests that the default tier has run. */
export const EMBEDDED = { skip: TIER === 'wider' && 'npm test covers the embedded stores' };

/** The skip reason for servers in the default tier. */
export const NO_SERVERS = TIER === 'default' && 'npm run test:wider covers servers';
