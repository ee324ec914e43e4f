import type { Intake } from '../../src/operations/intake.ts';
import type { Work } from '../../src/unit-of-work.ts';

const refuse = () => Promise.reject(new Error('this test has no store for files'));

/** For tests in which nobody uploads anything. */
export const noIntake: Intake = refuse;

export const noAddresses: Work['addresses'] = { download: refuse, upload: refuse };
