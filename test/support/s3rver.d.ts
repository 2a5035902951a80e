/** As much of it as tests use; it brings no types of its own. */
declare module "@20minutes/s3rver" {
  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: unknown[] }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
