/** What the launcher does, for the help of `npm start` and `ams start`. */
export const launcherHelp = `Starts PostgreSQL, a queue, a folder for attachments, and the API and the worker in one process, migrates the schema and
prints "ready" with the address. Ctrl-C stops everything in order and prints "stopped". A second Ctrl-C kills everything.

Settings, from the environment:
  PORT          port of the API (3000)
  HOST          address on which the API listens (127.0.0.1)
  PUBLIC_URL    address that clients use (http://localhost:PORT)
  DATA_DIR      folder for data and generated secrets (.data)
  LOG_LEVEL     log level of the API and the worker (warn)
  DATABASE_URL  an existing PostgreSQL, instead of the embedded one
  REDIS_URL     an existing Redis, instead of the embedded one
`;
