import { fakeService as start } from './fake-service.ts';
import type { fakeService as Declared } from './types.ts';

export type * from './types.ts';

export const fakeService: typeof Declared = start;
