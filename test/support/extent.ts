import { type Backend, backends } from './service.ts';

/** Whether this is the nightly run, which takes minutes more: both queue back ends, every view of the pages, the full fuzz. */
export const isNightly = process.env['TEST_EXTENT'] === 'nightly';

/** The queue back ends for suites of whole processes. Other suites use PostgreSQL, so a change is tested on both. */
export const processBackends: readonly Backend[] = isNightly ? backends : ['redis'];
