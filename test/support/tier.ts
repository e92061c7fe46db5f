/**
 * The tier that runs: `default` (`npm test`), `wider` (`npm run test:wider`), or undefined for files run by hand, which then test everything.
 *
 * Suites that run on every store are in both: on the embedded stores in the default tier, on servers in the wider one.
 */
const TIER = process.env['JACKDAW_TEST_TIER'];

/** The option `skip` of tests that the default tier has run. */
export const EMBEDDED = { skip: TIER === 'wider' && 'npm test covers the embedded stores' };

/** Why no server is started in the default tier. */
export const NO_SERVERS = TIER === 'default' && 'npm run test:wider covers servers';
