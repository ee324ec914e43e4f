import { join } from 'node:path';
import { inject } from 'vitest';
import type { Program } from '../../../scripts/parts/service-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of bundle.ts. */
    bundle: string;
  }
}

type BundledPart = 'api' | 'worker' | 'ams' | 'conformance-api';

/** A part of the service from the bundle. The chaos run and the nightly tests start what ships, module by module. */
export const bundledProgram = (part: BundledPart): Program => ({
  entry: join(inject('bundle'), `${part}.js`),
  nodeArguments: [],
});
