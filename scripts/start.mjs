import { bootstrap } from './bootstrap.mjs';

bootstrap();
await import('../dist/src/embedded/main.js');
