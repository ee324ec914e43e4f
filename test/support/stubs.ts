import type { Intake } from '../../src/operations/execute/file-intake.ts';
import type { Work } from '../../src/work/unit-of-work.ts';

const rejectUse = () => Promise.reject(new Error('this test has no store for files'));

/** For tests without uploads. */
export const disabledIntake: Intake = rejectUse;

export const disabledAddresses: Work['addresses'] = { download: rejectUse, upload: rejectUse };
