import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startGuarded } from './guarded-process.ts';
import { testCertificate } from './tls-certificate.ts';
import { createFolder } from '../use.ts';

/** Texts of a page of the documentation, such as its address, each with its replacement. Each must be there. */
export type Replacements = readonly (readonly [string, string])[];

/** A folder of its own, and the certificate of the tests in it. */
interface ProxyFiles {
  folder: string;
  cert: string;
  key: string;
}

/** Runs a proxy until the test is finished, with a configuration that is made from a page of the documentation. */
export async function startProxy(
  program: string,
  replaced: Replacements,
  {
    configure,
    argumentsFor,
  }: { configure: (files: ProxyFiles) => string; argumentsFor: (file: string) => string[] },
): Promise<void> {
  const folder = await createFolder();
  const [cert, key, file] = ['cert.pem', 'key.pem', 'configuration'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  let configuration = configure({ folder, cert, key });
  for (const [from, to] of replaced) {
    if (!configuration.includes(from)) throw new Error(`the configuration has no ${from}`);
    configuration = configuration.replaceAll(from, to);
  }
  await Promise.all([
    writeFile(cert, testCertificate.cert),
    writeFile(key, testCertificate.key),
    writeFile(file, configuration),
  ]);
  const { child, end } = startGuarded([program, ...argumentsFor(file)], {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
    endsBy: 'TERM',
  });
  await once(child, 'spawn');
  onTestFinished(end);
}
