import { type Backend, backends } from './service.ts';

/** Whether this is the nightly run, which runs every file that imports this one, with the tests that the run of every change leaves out. */
export const isNightly = process.env['TEST_EXTENT'] === 'nightly';

/** The queue back ends for suites of whole processes. Other suites use PostgreSQL, so a change is tested on both. */
export const processBackends: readonly Backend[] = isNightly ? backends : ['redis'];
