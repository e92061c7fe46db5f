import { runYamlTests } from '../../support/run-yaml-tests.js';

runYamlTests('plugins');
