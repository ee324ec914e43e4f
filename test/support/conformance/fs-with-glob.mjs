// For `node --import`: lets a program that names fs.globSync load on Node 20, which has none. Calling it fails.
import { register } from 'node:module';

const withGlob = asModule(`
  export * from 'node:fs';
  export { default } from 'node:fs';
  export function globSync() {
    throw new Error('fs.globSync is not there on this version of Node');
  }
`);

const hooks = asModule(`
  export function resolve(specifier, context, next) {
    const isTheirs = specifier === 'fs' && context.parentURL.includes('/@modelcontextprotocol/conformance/');
    return isTheirs ? { url: ${JSON.stringify(withGlob)}, shortCircuit: true } : next(specifier, context);
  }
`);

const [major] = process.versions.node.split('.').map(Number);
if (major < 22) register(hooks);

function asModule(text) {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}
