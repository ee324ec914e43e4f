import { bootstrap } from './bootstrap.mjs';

await bootstrap();
await import('../dist/src/embedded/main.js');
