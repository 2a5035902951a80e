export { type Breaker, type BreakerNotes, type BreakerOptions, createBreaker } from "./breaker.ts";
export { guardBackend } from "./guard-backend.ts";
